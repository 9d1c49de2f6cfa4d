"""The choice of speakers."""

import pytest

from dbpcfg.corpus.formats import Speakers
from dbpcfg.errors import DbpcfgError


def test_choices():
    mother = ("MOT", "Mother")
    assert Speakers().take(mother)
    assert Speakers().by_default
    assert Speakers.of(["mot"], None).take(mother)
    assert Speakers.of("Mother", None).take(mother)
    assert not Speakers.of("Mother", "MOT").take(mother)
    assert not Speakers.of(["FAT"], None).take(mother)
    assert not Speakers.of([], None).take(mother)
    assert Speakers.of(None, []).take(mother)
    assert not Speakers.of(None, []).by_default
    assert Speakers.of(None, ["FAT"]).take(mother)
    assert not Speakers.of(None, ["FAT", "mother"]).take(mother)
    assert not Speakers.of(["MOT"], None).take(())
    assert Speakers.of(None, ["MOT"]).take(())


def test_names_that_nobody_has():
    for speakers in (Speakers.of(["MOM"], None), Speakers.of(["MOT"], ["MOM"])):
        with pytest.raises(DbpcfgError, match=r"no speaker is called '(MOM|MOT)'.*nobody"):
            speakers.check()
        speakers.take(["MOT", "Mother"])
        with pytest.raises(DbpcfgError, match=r"called 'MOM'; these speak: MOT, Mother$"):
            speakers.check()
    speakers.take(["mom"])
    speakers.check()

"""Model files: exact round trips, and every kind of bad file refused by name."""

import io
import json
import os
import re
import struct
import tracemalloc
import zipfile
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.files import load_model, save_model
from dbpcfg.model.model import Model
from tests.strategies import random_grammar

ARRAYS = ("root", "binary", "lexical")
LITTLE = random_grammar(K=2, W=3, concentration=0.5, seed=0)
UNSEEN = np.array([0.1, 0.0])
CLASSES = {"w1": {"fern": 2, "Barn": 1}}
MODEL = Model(LITTLE.named(["NP", "VP"]), 2, Preprocessing(rare=1), UNSEEN, classes=CLASSES)

any_word = st.text() | st.sampled_from(
    ["", "\n", "\r\n", "\0", '"', "\\", "\u2028", "é", "é", "🐕"]
)
any_words = st.lists(any_word, min_size=1, max_size=6, unique=True)


def bits(model):
    arrays = (getattr(model.grammar, name).tobytes() for name in ARRAYS)
    rest = (model.grammar.names, model.depth, model.preprocessing, model.unknown.tobytes())
    rest += (repr(model.classes),)
    return model.grammar.vocabulary.words, *arrays, *rest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("grammars")


@pytest.fixture(scope="module")
def good(folder):
    """The bytes of a good file."""
    save_model(MODEL, folder / "good.npz")
    return (folder / "good.npz").read_bytes()


def load(folder, data):
    path = folder / "file.npz"
    path.write_bytes(data)
    return load_model(path)


def refusal(folder, data):
    """Why a file is refused. Any other exception, or none, is a failure."""
    with pytest.raises(GrammarError) as error:
        load(folder, data)
    prefix = f"{folder / 'file.npz'}: "
    assert str(error.value).startswith(prefix)
    assert error.value.__cause__ is None
    return str(error.value).removeprefix(prefix)


# --- round trips ----------------------------------------------------------------------------------


@given(
    any_words,
    st.integers(1, 4),
    st.sampled_from([0.01, 1.0]),
    st.integers(0, 2**32 - 1),
    st.none() | st.integers(1, 5),
    st.floats(0, 0.9),
)
def test_round_trip_is_exact(folder, words, K, concentration, seed, depth, unseen):
    drawn = random_grammar(K, len(words), concentration, seed)
    arrays = {name: getattr(drawn, name) for name in ARRAYS}
    grammar = Grammar(**arrays, vocabulary=Vocabulary(tuple(words)))
    path = folder / "round.npz"
    model = Model(grammar, depth, Preprocessing(scheme="both"), np.full(K, unseen))
    save_model(model, path)
    again = load_model(path)
    assert bits(again) == bits(model)
    assert not again.grammar.binary.flags.writeable
    assert not again.unknown.flags.writeable


def test_a_card_comes_back_and_makes_no_other_model(tmp_path):
    card = {"learned_from": ["a.txt", "b\x1b.txt"], "seed": 3, "f1": 0.25, "learner": "neural"}
    carded = replace(MODEL, card=card)
    save_model(carded, tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").card == card
    assert carded == MODEL
    assert load_model(tmp_path / "model.npz") == MODEL


def test_same_grammar_same_bytes(folder, tmp_path, good):
    save_model(load(folder, good), str(tmp_path / "again.npz"))
    assert (tmp_path / "again.npz").read_bytes() == good
    assert os.listdir(tmp_path) == ["again.npz"]


def test_numpy_reads_it_without_pickles(folder, good):
    with np.load(io.BytesIO(good), allow_pickle=False) as file:
        assert file["binary"].tobytes() == LITTLE.binary.tobytes()
        header = json.loads(file["header"].tobytes().decode())
    assert header == GOOD


# --- files that are not there ---------------------------------------------------------------------


def test_files_that_are_not_there(folder, good):
    for path, reason in (
        (folder / "none.npz", r"none\.npz cannot be read: No such file"),
        (folder, "cannot be read: Is a directory"),
        (folder / "good.npz" / "x.npz", "cannot be read: Not a directory"),
    ):
        with pytest.raises(DbpcfgError, match=reason):
            load_model(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_not_allowed(tmp_path):
    save_model(MODEL, tmp_path / "grammar.npz")
    (tmp_path / "grammar.npz").chmod(0)
    with pytest.raises(GrammarError, match="cannot be read: Permission denied"):
        load_model(tmp_path / "grammar.npz")


# --- damage ---------------------------------------------------------------------------------------


def test_cut_short_anywhere(folder, good):
    for length in range(len(good)):
        assert "not a dbpcfg model file, or a damaged one" in refusal(folder, good[:length])


def loads_the_same_or_is_refused(folder, data):
    try:
        found = load(folder, data)
    except GrammarError:
        assert refusal(folder, data)
        return False
    assert bits(found) == bits(MODEL)
    return True


def test_any_one_byte_changed(folder, good):
    loaded, escaped = 0, {}
    for place, mask in zip(range(len(good)), cycle((0x01, 0x80, 0xFF))):
        changed = bytearray(good)
        changed[place] ^= mask
        try:
            loaded += loads_the_same_or_is_refused(folder, bytes(changed))
        except Exception as error:
            escaped[place, mask] = error
    assert not escaped
    assert 0 < loaded < len(good)  # some bytes do not matter, such as dates


@given(st.binary(max_size=200))
def test_not_a_zip(folder, data):
    assert "not a dbpcfg model file, or a damaged one" in refusal(folder, data)


# --- archives of other things ---------------------------------------------------------------------


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def raw_npy(header, data=b""):
    """An array file with any header, however wrong."""
    encoded = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(encoded)) + encoded + data


def claimed(shape, data=b"", descr="<f8", fortran=False):
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    return raw_npy(header, data)


def header(text):
    return npy(np.frombuffer(text if isinstance(text, bytes) else text.encode(), dtype=np.uint8))


def archive(good, compression=zipfile.ZIP_STORED, **changes):
    """The good file with some entries changed; ``None`` leaves one out."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(file, "w", compression) as new:
        entries = {name.removesuffix(".npy"): old.read(name) for name in old.namelist()}
        for name, data in {**entries, **changes}.items():
            if data is not None:
                new.writestr(name if "." in name else f"{name}.npy", data)
    return file.getvalue()


def test_the_helper_changes_nothing_by_itself(folder, good):
    assert bits(load(folder, archive(good))) == bits(MODEL)
    rows = claimed((2, 3), LITTLE.lexical.tobytes())
    assert bits(load(folder, archive(good, lexical=rows))) == bits(MODEL)


@pytest.mark.parametrize(
    "changes",
    [{"root": None}, {"header": None}, {"more": b""}, {"more.txt": b""}, {"../root": b""}],
    ids=repr,
)
def test_wrong_entries(folder, good, changes):
    expected = "the entries binary.npy, header.npy, lexical.npy, root.npy"
    assert expected in refusal(folder, archive(good, **changes))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_twice(folder, good):
    file = io.BytesIO(good)
    with zipfile.ZipFile(file, "a") as new:
        new.writestr("root.npy", npy(LITTLE.root))
    assert "expected the entries" in refusal(folder, file.getvalue())


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed(folder, good, compression):
    assert refusal(folder, archive(good, compression)) == (
        "header.npy is compressed; dbpcfg model files are not"
    )


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, target):
        self.target = str(target)

    def __reduce__(self):
        return Path.touch, (Path(self.target),)


def test_pickles_are_not_opened(folder, tmp_path, good):
    target = tmp_path / "made-by-a-pickle"
    pickled = io.BytesIO()
    np.save(pickled, np.array([Bomb(target)] * 2, dtype=object), allow_pickle=True)
    for name in ("header", *ARRAYS):
        reason = refusal(folder, archive(good, **{name: pickled.getvalue()}))
        assert f"{name}.npy must be a C-ordered array" in reason
    bare = pickled.getvalue()[pickled.getvalue().index(b"\n") + 1 :]
    assert f"{name}.npy is not an array" in refusal(folder, archive(good, **{name: bare}))
    assert not target.exists()
    np.load(io.BytesIO(pickled.getvalue()), allow_pickle=True)
    assert target.exists()  # it was a real one


ROOT = LITTLE.root
BYTES = ROOT.tobytes()
NOT_FLOATS = "root.npy must be a C-ordered array of float64"
NOT_AN_ARRAY = "root.npy is not an array"

ARRAY_FILES = {
    "float32": (npy(ROOT.astype(np.float32)), NOT_FLOATS),
    "integers": (npy(ROOT.view(np.int64)), NOT_FLOATS),
    "objects": (claimed((2,), BYTES, descr="|O"), NOT_FLOATS),
    "Fortran": (npy(np.asfortranarray(LITTLE.lexical)), NOT_FLOATS),
    "format 2.0": (npy(ROOT, (2, 0)), "root.npy is not an array (an unknown version of the npy"),
    "empty": (b"", NOT_AN_ARRAY),
    "header cut short": (b"\x93NUMPY\x01\x00\xff\xff{}", NOT_AN_ARRAY),
    "empty header": (raw_npy(""), NOT_AN_ARRAY),
    "code": (raw_npy("__import__('os').getcwd()"), NOT_AN_ARRAY),
    "many brackets": (raw_npy("(" * 9000), NOT_AN_ARRAY),
    "mixed keys": (raw_npy("{'descr': '<f8', 1: False, 'shape': (2,)}"), NOT_AN_ARRAY),
    "shape of floats": (claimed((2.0,), BYTES), NOT_AN_ARRAY),
    "too short": (claimed((3,), BYTES), "root.npy has 16 bytes for the shape (3,)"),
    "too long": (claimed((1,), BYTES), "root.npy has 16 bytes for the shape (1,)"),
    "huge": (claimed((10**15,), BYTES), "root.npy has 16 bytes for the shape"),
    "huge, 16 modulo 2**64": (claimed((2**61 + 2,), BYTES), "root.npy has 16 bytes for the shape"),
    "huge in hexadecimal": (claimed(f"(0x{'f' * 8000},)"), "root.npy"),
    "negative": (claimed((-2,), BYTES), "root.npy has 16 bytes for the shape (-2,)"),
    "beyond huge and none": (claimed((0, 10**30)), "root.npy"),
    "many dimensions": (claimed((1,) * 65, BYTES[:8]), "root.npy"),
}


@pytest.mark.parametrize("kind", ARRAY_FILES)
def test_not_the_right_array(folder, good, kind):
    data, reason = ARRAY_FILES[kind]
    found = refusal(folder, archive(good, root=data))
    assert found.startswith(reason)
    assert len(found) < 1000


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("root", [np.nan, 1.0], "root has entries that are negative, infinite or not numbers"),
        ("root", [-0.5, 1.5], "root has entries that are negative, infinite or not numbers"),
        ("root", [0.5, 0.4], "root must sum to 1 (it sums to 0.9)"),
        ("lexical", np.ones((2, 3)), "the row of category "),
        ("root", 1.0, "root.npy has a shape that no such array has"),
        ("root", np.zeros(0), "a grammar needs categories and words, got 0 and 3"),
        ("root", np.full(3, 1 / 3), "expected root of shape (3,) and binary of shape (3, 3, 3)"),
        ("binary", LITTLE.binary.reshape(4, 2), "expected root of shape (2,) and binary of shape"),
        ("lexical", LITTLE.lexical[:, :2], "expected lexical of shape (2, 3)"),
        ("unknown", [0.5, 1.0], "unknown must be K = 2 probabilities"),
        ("unknown", [0.5, np.nan], "unknown must be K = 2 probabilities"),
    ],
)
def test_not_a_grammar(folder, good, name, array, reason):
    entry = npy(np.array(array, dtype=np.float64, order="C"))
    assert refusal(folder, archive(good, **{name: entry})).startswith(reason)


GOOD = {
    "format": "dbpcfg model",
    "version": 1,
    "words": ["w0", "w1", "w2"],
    "names": ["NP", "VP"],
    "depth": 2,
    "preprocessing": Preprocessing(rare=1).table(),
    "classes": CLASSES,
}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "its header is not JSON in UTF-8"),
        (b"\xff\xfe", "its header is not JSON in UTF-8"),
        (b"[" * 100_000, "its header is not JSON in UTF-8"),
        (json.dumps(GOOD).encode("utf-16"), "its header is not JSON in UTF-8"),
        (b'{"version": ' + b"1" * 5000 + b"}", "its header is not JSON in UTF-8"),
        (b"null", "its header does not say that it is a 'dbpcfg model'"),
        ({"format": "dbpcfg run"}, "its header does not say that it is a 'dbpcfg model'"),
        ({"version": 2}, "it has version 2 of the format; this program reads version 1"),
        ({"version": "1"}, "it has version '1' of the format; this program reads version 1"),
        ({"words": None}, "the words in its header must be a list of texts"),
        ({"words": {"a": 0, "b": 1, "c": 2}}, "the words in its header must be a list of texts"),
        ({"words": ["a", "b", 3]}, "the words in its header must be a list of texts"),
        ({"words": ["a", "b", "a"]}, "the vocabulary has 'a' twice"),
        ({"words": ["a", "b"]}, "expected lexical of shape (2, 2)"),
        ({"words": []}, "a grammar needs categories and words, got 2 and 0"),
        ({"names": ["NP", "NP"]}, "expected 2 different names of categories"),
        ({"names": ["NP", 1]}, "the names in its header must be a list of texts"),
        ({"depth": 0}, "the depth bound must be"),
        ({"depth": 1.5}, "its depth must be a whole number, or null, got 1.5"),
        ({"preprocessing": []}, "preprocessing must be a table"),
        (
            {"preprocessing": {"lowercase": 1}},
            "preprocessing: lowercase must be true or false, got 1",
        ),
        ({"preprocessing": {"rare": -1}}, "preprocessing: rare must be a whole number from 0 up"),
        (
            {"preprocessing": {"shout": True}},
            "preprocessing has 'shout', which is not one of",
        ),
        *(
            ({"classes": classes}, "the classes in its header must be words of the model")
            for classes in (
                *(None, [], {"fern": {"fern": 1}}, {"w1": {}}, {"w1": ["fern"]}),
                *({"w1": {"fern": n}} for n in (0, -1, 1.0, True, "1", 2**31)),
            )
        ),
        ({"classes": {"w1": {"\ud800": 1}}}, "its classes are not Unicode text"),
        *(
            ({"card": card}, "its card must have texts, numbers and lists of texts by their names")
            for card in (None, [], "a", {"seed": True}, {"seed": None}, {"seed": {}}, {"a": [1]})
        ),
    ],
)
def test_bad_header(folder, good, text, reason):
    if isinstance(text, dict):
        text = json.dumps({**GOOD, **text})
    found = refusal(folder, archive(good, header=header(text)))
    assert found.startswith(reason)
    assert len(found) < 1000


# --- archives with strange directories ------------------------------------------------------------

LAST = b"PK\1\2"  # each entry's record in the directory at the archive's end begins so
END = b"PK\5\6"


def edited(data, record, offset, layout, *values):
    """The file with values written at some offset into the last such record."""
    changed = bytearray(data)
    struct.pack_into(layout, changed, data.rindex(record) + offset, *values)
    return bytes(changed)


STRANGE = {
    "needs a newer reader": (6, "<H", 99),
    "encrypted": (8, "<H", 0x01),
    "patched": (8, "<H", 0x20),
    "strongly encrypted": (8, "<H", 0x40),
    "unknown compression": (10, "<H", 77),
    "longer than the file": (20, "<II", 2**30, 2**30),
    "beyond the file": (42, "<I", 2**31 - 1),
    "the place of another entry": (42, "<I", 0),
    "another name": (46, "<4s", b"\xff\xff\xff\xff"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_entries(folder, good, kind):
    """Fields of an entry's record that a reader must doubt."""
    data = edited(good, LAST, *STRANGE[kind])
    tracemalloc.start()
    try:
        assert refusal(folder, data)
        assert tracemalloc.get_traced_memory()[1] < 2**22  # no size is believed that is not there
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("offset", [8, 12, 16])
@pytest.mark.parametrize("value", [0, 1, 2**31 - 1, 2**32 - 1])
def test_strange_directories(folder, good, offset, value):
    """Number of entries, size and place of the directory."""
    loads_the_same_or_is_refused(folder, edited(good, END, offset, "<I", value))


def test_a_comment_does_not_matter_and_messages_are_one_line(folder, good):
    assert bits(load(folder, edited(good, END, 20, "<H", 3) + b"hey")) == bits(MODEL)
    reason = refusal(folder, archive(good, header=header(json.dumps({**GOOD, "version": "\n"}))))
    assert re.fullmatch(r"it has version '\\n' of the format; .*", reason)

"""Files in Latin-1 are read without an option; other encodings and damaged files are errors."""

import gzip
import io
import logging
import sys

import pytest

from dbpcfg.corpus import encodings
from dbpcfg.corpus.encodings import guess_notes, western
from dbpcfg.corpus.loading import load_text, text_lines
from dbpcfg.corpus.pairs import read_pairs
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.stimuli import read_stimuli
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError
from tests.inprocess import run

FRENCH = "L'été dernier, la façade « à côté » où naît la rumeur ; dès l'aube, il est né"
WESTERN = {
    "French": FRENCH,
    "German": "Die »größten« Bäume hörten über Öl und Ähren, Straße für Straße",
    "Spanish": "¿Qué? ¡Más! El niño comió el 3º día; él está aquí",
    "Portuguese": "(UTT+np (H+n Um_avanço) (N<+adjp já)) não à noite são 2.ª AMANHÃ",
    "Catalan": "el col·legi paral·lel és això, l'any «mil»",
    "Icelandic": "það er búið að segja þér þetta áður en þú ferð síðan í þjóðgarð við ána",
    "Finnish": "hyvää päivää, täällä päätä yössä äiti näki häät",
    "Danish": "Rødgrød med fløde på Ærø, så får I æbler",
    "Dutch": "één coöperatie in België",
    "one word": "a\nthe café\n",
    "one word at the end": "the café",
    "one leaf": "(S (N café))",
    "capitals": "ÉTÉ À PARIS",
}
WINDOWS = {
    "quotes": "“It’s late…” – he said",
    "œuvre": "l’œuvre d’un cœur coûte 5 €",
}
OTHERS = {
    "koi8-r": "мы живём в доме",
    "windows-1251": "мы живём в доме",
    "iso-8859-5": "мы живём в доме",
    "iso-8859-7": "η γάτα είναι στο σπίτι",
    "iso-8859-8": "החתול בבית",
    "windows-1256": "القط في البيت",
    "tis-620": "สวัสดีครับ",
    "iso-8859-2": "łódź i gęś są szczęśliwe",
    "windows-1250": "łódź i gęś są szczęśliwe",
    "iso-8859-9": "kızı değil şu çocuğa güneş ışığı",
    "mac-roman": "le café est naïf, ça va être là",
    "cp850": "le café est naïf, ça va être là",
    "shift-jis": "今日は天気がいいですね",
    "euc-jp": "今日は天気がいいですね",
    "gb18030": "今天天气很好",
    "big5": "今天 天氣 很 好",
    "euc-kr": "오늘 날씨가 좋다",
}


@pytest.mark.parametrize("language", WESTERN)
@pytest.mark.parametrize("times", [1, 50])
def test_latin1(language, times):
    text = f"{WESTERN[language]} " * times
    assert western(text.encode("latin-1")) == "iso-8859-1"


@pytest.mark.parametrize("text", WINDOWS.values())
def test_windows_1252(text):
    assert western(text.encode("windows-1252")) == "windows-1252"


FORMS = ("{}\n", "(S (NP (N {})) (V see))\n", "the word {} is not of ours\n")


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_encodings(encoding):
    text = OTHERS[encoding]
    words = text.split() if text[0] > "\u024f" else []  # some of Latin letters could be of Latin-1
    for part in [text, *(word for word in words if len(word) > 3)]:
        for form in FORMS:
            data = form.format(part).encode(encoding)
            assert western(data) is western(data * 50) is None, part


def test_single_characters_of_big5_in_a_treebank():
    data = "S(agent:NP(Head:Nba:我)|Head:VA4:走)#。(PERIODCATEGORY)\n".encode("big5")
    assert western(data) is western(data * 50) is None


@pytest.mark.parametrize("text", [FRENCH, "今日は 天気が いい", "мы живём", "Ég þú það"])
def test_damaged_utf8_is_an_error(tmp_path, text):
    """Whatever byte is lost, in a text of one line or of many."""
    path, data = tmp_path / "f.txt", text.encode()
    for n, byte in enumerate(data):
        if byte < 128:
            continue
        damaged = data[:n] + data[n + 1 :] + b" x\n"
        for before in (0, 30):
            path.write_bytes(f"{text}\n".encode() * before + damaged)
            with pytest.raises(DbpcfgError, match=rf"f\.txt:{before + 1}: found the byte 0x"):
                load_text(str(path))
            with pytest.raises(DbpcfgError, match=rf"f\.txt:{before + 1}: found the byte 0x"):
                list(text_lines(str(path)))


def test_what_to_do_with_damaged_utf8(tmp_path):
    path = tmp_path / "f.txt"
    path.write_bytes(f"a\n{FRENCH}\n".encode() + b"caf\xe9\n")
    for reading in (load_text, lambda path: list(text_lines(path))):
        with pytest.raises(DbpcfgError) as caught:
            reading(str(path))
        assert "f.txt:3: found the byte 0xe9, which is not UTF-8" in str(caught.value)
    with pytest.raises(DbpcfgError, match="among characters that are: the file is damaged there"):
        load_text(str(path))


def test_a_single_character_of_utf8_that_is_cut(tmp_path):
    for data in (b"the caf\xc3 is\n", b"the caf\xa9 is\n", b"a ni\xc3o\n", b"a \xe2\x80", b"\xff"):
        assert western(data) is None, data


@pytest.fixture
def old(tmp_path):
    """Two files in Latin-1, one of them packed, one in Windows-1252 and one in UTF-8."""
    texts = {"a.txt": FRENCH, "b.txt.gz": FRENCH, "c.txt": "“œuvre” née", "d.txt": FRENCH}
    for name, encoding in zip(texts, ("latin-1", "latin-1", "windows-1252", "utf-8")):
        data = f"{texts[name]}\n".encode(encoding)
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return tmp_path


WORDS = [FRENCH.split(), FRENCH.split(), ["“œuvre”", "née"], FRENCH.split()]


def test_a_folder_of_several_encodings(old, caplog):
    with caplog.at_level(logging.INFO, "dbpcfg"):
        corpus = read(old)
    assert [list(sentence.words) for sentence in corpus] == WORDS
    assert corpus.guessed == {
        f"{old}/a.txt": "iso-8859-1",
        f"{old}/b.txt.gz": "iso-8859-1",
        f"{old}/c.txt": "windows-1252",
    }
    assert "(text, Latin-1, Windows-1252)" in corpus.summary()
    notes = [note for note in corpus.notes() if "not UTF-8" in note]
    assert notes == caplog.messages
    assert notes == [
        f"2 files ({old}/a.txt, {old}/b.txt.gz) are not UTF-8, so read as Latin-1; if letters are "
        "wrong, name the encoding with --encoding (in Python encoding=)",
        f"{old}/c.txt is not UTF-8, so read as Windows-1252; if letters are wrong, name the "
        "encoding with --encoding (in Python encoding=)",
    ]


def test_many_files_are_one_note():
    notes = guess_notes({f"{n}.tbf": "iso-8859-1" for n in range(610)})
    assert len(notes) == 1
    assert notes[0].startswith("610 files (0.tbf, 1.tbf, …) are not UTF-8, so read as Latin-1; ")


def test_a_given_encoding_is_not_guessed(old):
    assert read(old / "a.txt", encoding="iso-8859-2").guessed == {}
    for encoding in ("utf-8", "UTF8"):
        with pytest.raises(DbpcfgError, match="is not UTF-8; convert it with"):
            read(old / "a.txt", encoding=encoding)


def test_streams(old):
    notes = []
    found = [list(s.words) for s in stream([str(old)], on_note=notes.append) if s is not None]
    assert found == WORDS
    assert [note[: note.index(" not")].replace(f"{old}/", "") for note in notes] == [
        "a.txt is",
        "b.txt.gz is",
        "c.txt is",
    ]


def test_a_stream_says_one_thing_of_many_files(tmp_path):
    for n in range(9):
        (tmp_path / f"{n}.txt").write_bytes(f"{FRENCH}\n".encode("latin-1") * 2)
    notes = []
    assert len(list(stream([str(tmp_path)], on_note=notes.append))) == 18
    assert [note.partition(" (")[0].partition(" not")[0] for note in notes] == [
        f"{tmp_path}/0.txt is",
        "8 files",
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_a_file_that_need_not_fit_into_memory(tmp_path, monkeypatch, packed):
    path, guessed = tmp_path / "f.csv", {}
    data = ("a,b\n" + "x,y\n" * 100 + "é,à\nété,là\nune œuvre,à 5 €\n" * 10).encode("windows-1252")
    path.write_bytes(gzip.compress(data) if packed else data)
    monkeypatch.setattr(encodings, "_SAMPLE", 64)
    lines = list(text_lines(str(path), None, guessed.__setitem__))
    assert "".join(lines) == data.decode("windows-1252")
    assert list(guessed) == [str(path)]


def standard_input(data):
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))


def test_standard_input(monkeypatch):
    data = f"the cat\n{FRENCH}\n“à la carte”\n".encode("windows-1252")
    for packed in (data, gzip.compress(data)):
        monkeypatch.setattr(sys, "stdin", standard_input(packed))
        notes = []
        found = [list(s.words) for s in stream(["-"], on_note=notes.append) if s is not None]
        assert found == [line.split() for line in data.decode("windows-1252").splitlines()]
        assert len(notes) == 1
        assert notes[0].startswith("<stdin> is not UTF-8, so read as ")


def test_a_line_that_is_not_western_after_some_that_are(monkeypatch):
    data = f"{FRENCH}\n".encode("latin-1") + b"a\n\x81\n"
    monkeypatch.setattr(sys, "stdin", standard_input(data))
    with pytest.raises(DbpcfgError, match="<stdin>:3: found the byte 0x81"):
        list(stream(["-"]))


def test_xml_keeps_what_it_declares(tmp_path):
    path = tmp_path / "f.xml"
    for declared in ("iso-8859-1", "windows-1252", "iso-8859-2"):
        text = f'<?xml version="1.0" encoding="{declared}"?>\n<s>café né</s>\n'
        path.write_bytes(text.encode(declared))
        guessed = {}
        assert load_text(str(path), None, guessed.__setitem__) == text
        assert guessed == {}
    path.write_bytes(b'<?xml version="1.0" encoding="utf-8"?>\n<s>caf\xe9</s>\n')
    with pytest.raises(DbpcfgError, match=r"f\.xml:2: found the byte 0xe9"):
        load_text(str(path))
    path.write_bytes(b'<?xml version="1.0"?>\n<s>caf\xe9</s>\n')
    assert load_text(str(path)) == '<?xml version="1.0"?>\n<s>café</s>\n'


def test_stimuli_and_pairs(tmp_path):
    notes = []
    (tmp_path / "t.csv").write_bytes("item,sentence\n1,un été\n".encode("latin-1"))
    table = read_stimuli(str(tmp_path / "t.csv"), on_note=notes.append)
    assert table.rows == [("1", "un été")]
    (tmp_path / "p.txt").write_bytes("un été finit\nun été finissent\n".encode("latin-1"))
    (tmp_path / "p.csv").write_bytes(b"good,bad\n\xe9t\xe9,ete\n")
    pairs = read_pairs([tmp_path / "p.txt"], on_note=notes.append)
    assert pairs[0].good.words == ("un", "été", "finissent")
    pairs = read_pairs([tmp_path / "p.csv"], "good", "bad", on_note=notes.append)
    assert pairs[0].good.words == ("été",)
    assert [note.partition(" is not")[0].rpartition("/")[2] for note in notes] == [
        "t.csv",
        "p.txt",
        "p.csv",
    ]


def test_commands_say_it_once(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    for n in range(5):
        text = "(S (NP (D l) (N été)) (VP (V finit)))\n".encode("latin-1")
        (folder / f"{n}.mrg").write_bytes(text)
    for command in (("convert", folder, "-"), ("evaluate", folder, "--baseline", "right")):
        code, _, said = run(*command)
        assert code == 0
        assert said.count("not UTF-8, so read as Latin-1") == 1
        assert "UTF-8" not in run(*command, "--encoding", "iso-8859-1")[2]
        assert "UTF-8" not in run(*command, "-q")[2]

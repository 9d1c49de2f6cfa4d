"""Damaged files of all kinds: a command works, or says in one line what is wrong."""

import itertools
import shutil
import traceback
import warnings
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce, resume
from tests.corpus import samples
from tests.induction.small import SENTENCES, TREES
from tests.inprocess import run
from tests.rig.damage import TOML, damaged

CESS = """\
(S (sn (da0ms0 El el) (ncms000 gato gato)) (grup.verb (vmii3s0 dormía dormir)) (Fp . .))
(S (sn (np00000 Ada Ada)) (grup.verb (vmip3s0 corre correr)) (Fp . .))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """One good file of each kind."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "gold.mrg").write_text("".join(f"{tree}\n" for tree in TREES[:12]))
    (folder / "text.txt").write_text("".join(f"{' '.join(words)}\n" for words in SENTENCES[:12]))
    (folder / "talk.cha").write_text(samples.CHAT)
    (folder / "deps.conllu").write_text(samples.CONLLU)
    (folder / "cess.tbf").write_text(CESS)
    induce(
        *(SENTENCES[:12], 2, 2),
        chains=2,
        iterations=4,
        out=folder / "run",
        gold=TREES[:12],
        threads=1,
    )
    for ending in ("tsv", "json", "pcfg"):
        call("export", folder / "run", folder / f"rules.{ending}", "-q")
    call("compare", folder / "gold.mrg", "--systems", "left,right", "--out", folder / "others")
    shutil.copy(folder / "run" / "model.npz", folder / "model.npz")
    return folder


def call(*arguments: object) -> tuple[int, str]:
    """The exit code of a command and its messages; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, said = run(*arguments)
    return code, said


def fault(*arguments: object) -> str | None:
    """What is wrong with how a command has ended, if anything."""
    try:
        code, said = call(*arguments)
    except Exception:
        return traceback.format_exc(limit=-2)
    if code == 0:
        return f"a message: {said}" if said else None
    one_line = said.startswith("dbpcfg: ") and len(said.splitlines()) == 1 and len(said) < 1000
    return None if code == 2 and one_line else f"exit code {code}: {said}"


def python_fault(path: Path) -> str | None:
    """What is wrong with how a run is resumed, if anything; it stops at once."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            resume(path, stopping=lambda: True, checkpoint=0, threads=1)
    except DbpcfgError as error:
        return f"lines: {error}" if len(str(error).splitlines()) != 1 else None
    except Exception:
        return traceback.format_exc(limit=-2)
    return None


def words(command: list[str], folder: Path, target: Path) -> list[str]:
    """A command with ``@`` for what is damaged, and ``^`` for the folder of good files."""
    named = [str(folder / word[1:]) if word.startswith("^") else word for word in command]
    return [word.replace("@", str(target)) for word in named]


def faults(file: str, commands: list[list[str]], number: int, folder: Path, work: Path):
    """Damage a file a number of times and give each to one of the commands."""
    good, chance = folder / file, Random(file)
    whole = Path(file).parts[0]
    if whole != file:
        shutil.copytree(folder / whole, work / whole)
    target, turn = work / file, itertools.cycle(commands)
    for trial in range(number):
        target.write_bytes(damaged(good, chance))
        command = next(turn)
        if command[0] == "resume":
            wrong = python_fault(work / whole)
            shutil.rmtree(work / whole)
            shutil.copytree(folder / whole, work / whole)
        else:
            wrong = fault(*words(command, folder, work / whole))
        if wrong:
            yield f"{file}, trial {trial}, {' '.join(command)}: {wrong}"


def listed(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


GRAMMAR = listed("""
show @
parse @ ^text.txt -q --threads=1
parse @ ^text.txt -q --method=viterbi -n2 --threads=1
parse @ ^text.txt -q --method=sample --threads=1
probability @ ^text.txt -q --threads=1
surprisal @ ^text.txt -q --threads=1
generate @
export @ - -q
export @ - -q --as=json --depth=2
bound @
bound @ --show=h
""")
READ = listed("""
convert @ - -q
convert @ - -q --skip-broken
parse ^model.npz @ -q --threads=1
baseline right @ -q
""")
TREEBANK = READ + listed("""
evaluate @ ^run/trees.txt -q
evaluate ^gold.mrg @ -q
draw @ -q
draw @ -q --as=forest --raw
show ^run --gold @ -q
""")
PAGE = listed("report ^run --gold @ -q --overwrite")
RUN = listed("""
resume @
show @ --trees=2
compare-runs @ -q
parse @ ^text.txt -q --method=mbr-chain --threads=1
resume @
probability @ ^text.txt -q --chain --threads=1
report @ -q --overwrite
""")
TREES_OF_A_RUN = RUN + listed("evaluate ^gold.mrg @/trees.txt -q\ndraw @ -q")
COMPARISON = listed("""
report ^run -q --overwrite --comparison @
compare ^gold.mrg --systems=left,right -q --out @
""")

TARGETS: list[tuple[str, list[list[str]], int]] = [
    ("model.npz", GRAMMAR, 165),
    *((f"rules.{ending}", GRAMMAR, 55) for ending in ("tsv", "json", "pcfg")),
    ("gold.mrg", TREEBANK, 112),
    ("gold.mrg", PAGE, 6),
    *((file, READ, 50) for file in ("text.txt", "talk.cha", "deps.conllu", "cess.tbf")),
    ("run/config.toml", RUN, 105),
    ("run/corpus.npz", RUN, 70),
    ("run/gold.npz", RUN, 35),
    ("run/chains/1/chain.npz", RUN, 140),
    ("run/chains/1/trace.tsv", RUN, 7),
    ("run/chains.tsv", RUN, 7),
    ("run/model.npz", RUN, 35),
    ("run/samples.npz", RUN, 70),
    ("run/trees.txt", TREES_OF_A_RUN, 36),
    ("others/.cells/left/cell.json", COMPARISON, 30),
    ("others/left/trees.txt", COMPARISON, 10),
]


@pytest.mark.parametrize(("file", "commands", "number"), TARGETS)
def test_damaged_files(file, commands, number, folder, tmp_path):
    assert not list(faults(file, commands, number, folder, tmp_path))


def test_every_value_of_a_configuration(folder, tmp_path):
    """Each in turn, as chance may leave one out."""
    shutil.copytree(folder / "run", tmp_path / "run")
    config = tmp_path / "run" / "config.toml"
    lines, wrong = config.read_text().splitlines(), []
    for number, value in itertools.product(range(len(lines)), TOML):
        key, equals, _ = lines[number].partition(" = ")
        if equals:
            changed = [*lines[:number], f"{key} = {value}", *lines[number + 1 :]]
            config.write_text("\n".join(changed))
            wrong.append(fault("report", tmp_path / "run", "-q", "--overwrite"))
    assert len(wrong) > 500
    assert not list(filter(None, wrong))


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


@pytest.mark.parametrize("file", [name for name, *_ in TARGETS if name.endswith(".npz")])
def test_nothing_is_unpickled(file, folder, tmp_path):
    target, whole = tmp_path / "made-by-a-pickle", Path(file).parts[0]
    if whole == file:
        shutil.copy(folder / file, tmp_path)
    else:
        shutil.copytree(folder / whole, tmp_path / whole)
    path = tmp_path / file
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    objects = np.array([Bomb(target)], dtype=object)
    for name in names:
        with np.load(folder / file) as arrays:
            np.savez(path, **{**arrays, name: objects})
        for command in RUN if whole == "run" else GRAMMAR:
            if command[0] == "resume":
                assert python_fault(tmp_path / whole) is None
            else:
                assert fault(*words(command, folder, tmp_path / whole)) is None
        assert not target.exists()
    np.savez(path, objects=objects)
    with np.load(path, allow_pickle=True) as arrays:
        assert arrays["objects"].shape == (1,)
    assert target.exists()  # negative control: it was a real one

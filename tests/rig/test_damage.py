"""Damaged files of all kinds: a command works, or says in one line what is wrong."""

import itertools
import shutil
import traceback
import warnings
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
    for ending in ("tsv", "pcfg"):
        run("export", folder / "run", folder / f"rules.{ending}", "-q")
    run("compare", folder / "gold.mrg", "--systems", "left,right", "--out", folder / "others")
    shutil.copy(folder / "run" / "model.npz", folder / "model.npz")
    return folder


def fault(*arguments: object) -> str | None:
    """What is wrong with how a command ends, if anything; warnings are errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if arguments[0] == "resume":  # from Python, where it can stop at once
                resume(arguments[1], should_stop=lambda: True, checkpoint=0, threads=1)
                return None
            code, _, said = run(*arguments)
    except Exception as error:
        expected = arguments[0] == "resume" and isinstance(error, DbpcfgError)
        one_line = len(str(error).splitlines()) == 1
        return None if expected and one_line else traceback.format_exc(limit=-2)
    if code == 0:
        return f"a message: {said}" if said else None
    one_line = said.startswith("dbpcfg: ") and len(said.splitlines()) == 1 and len(said) < 1000
    return None if code == 2 and one_line else f"exit code {code}: {said}"


def try_command(command: str, folder: Path, target: Path) -> str | None:
    """The fault of a command: ``@`` is the damaged file or run, ``^`` the folder of good files."""
    return fault(*command.replace("^", f"{folder}/").replace("@", str(target)).split())


def copy(file: str, folder: Path, work: Path) -> Path:
    """Copy a file, or all of the run or comparison that it is in; return the copy."""
    name = Path(file).parts[0]
    shutil.rmtree(work / name, ignore_errors=True)
    (shutil.copy if name == file else shutil.copytree)(folder / name, work / name)
    return work / name


def faults(file: str, commands: list[str], number: int, folder: Path, work: Path):
    """Damage a file a number of times and give each to one of the commands."""
    chance, target = Random(file), copy(file, folder, work)
    for trial, command in zip(range(number), itertools.cycle(commands)):
        (work / file).write_bytes(damaged(folder / file, chance))
        if wrong := try_command(command, folder, target):
            yield f"{file}, trial {trial}, {command}: {wrong}"
        if command.startswith("resume"):  # which changes the run
            copy(file, folder, work)


def listed(text: str) -> list[str]:
    return text.strip().splitlines()


GRAMMAR = listed("""
show @
parse @ ^text.txt -q --threads=1
parse @ ^text.txt -q --method=viterbi -n2 --threads=1
parse @ ^text.txt -q --method=sample --threads=1
probability @ ^text.txt -q --threads=1
surprisal @ ^text.txt -q --threads=1
generate @
export @ - -q
export @ - -q --as=nltk --depth=2
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

TARGETS: list[tuple[str, list[str], int]] = [
    ("model.npz", GRAMMAR, 165),
    *((f"rules.{ending}", GRAMMAR, 55) for ending in ("tsv", "pcfg")),
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
    target, copied, path = (
        tmp_path / "made-by-a-pickle",
        copy(file, folder, tmp_path),
        tmp_path / file,
    )
    objects = np.array([Bomb(target)], dtype=object)
    with np.load(folder / file) as archive:
        arrays = dict(archive)
    for name in arrays:
        np.savez(path, **{**arrays, name: objects})
        for command in RUN if file.startswith("run/") else GRAMMAR:
            assert try_command(command, folder, copied) is None
        assert not target.exists()
    np.savez(path, objects=objects)
    with np.load(path, allow_pickle=True) as archive:
        assert archive["objects"].shape == (1,)
    assert target.exists()  # negative control: it was a real one

"""What tests of several commands share."""

from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from tests.cli.small import GOLD, ODD_WORDS, make_run
from tests.inprocess import InProcess
from tests.strategies import random_grammar

NEWS = """\
( (S (NP-SBJ (DT The) (NN Cat)) (VP (VBD saw) (NP (CD $) (CD 3))) (. .)))
( (S (NP (PRP It)) (VP (VBD barked)) (. !)))
"""


@pytest.fixture
def command(monkeypatch, capsys) -> InProcess:
    """The command line in this process."""
    return InProcess(monkeypatch, capsys)


@pytest.fixture
def call(command):
    return command.call


@pytest.fixture
def printed(call):
    """The output of a command that succeeds."""
    return lambda *arguments, **options: call(*arguments, **options)[0]


@pytest.fixture
def refuse(command):
    return command.refuse


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory) -> Path:
    """A folder with a small treebank and its text."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "gold.mrg").write_text("".join(f"{tree}\n" for tree in GOLD))
    (folder / "text.txt").write_text("".join(" ".join(tree.words()) + "\n" for tree in GOLD))
    return folder


@pytest.fixture(scope="session")
def center_run(corpus_folder, tmp_path_factory) -> Path:
    """The directory of a run over the small corpus; tests do not write to it."""
    return make_run(corpus_folder / "gold.mrg", tmp_path_factory.mktemp("runs") / "center")


@pytest.fixture(scope="session")
def center_model(center_run) -> Model:
    """Its model, with the samples of the chain."""
    return dbpcfg.load(center_run, samples=True)


@pytest.fixture
def odd_model(tmp_path: Path) -> Model:
    """A model of three categories over words that mean something elsewhere: model.npz."""
    drawn = random_grammar(3, len(ODD_WORDS), 0.5, 2)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(ODD_WORDS))
    model = Model(grammar, depth=2)
    model.save(tmp_path / "model.npz")
    return model


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A table of rules with categories NP and VP and words w0 and w1."""
    write_grammar(random_grammar(2, 2, 1.0, 0).named(["NP", "VP"]), tmp_path / "rules.tsv")
    return tmp_path / "rules.tsv"


@pytest.fixture
def center(tmp_path: Path) -> Path:
    path = tmp_path / "center.trees"
    path.write_text("".join(f"{tree}\n" for tree in synthetic_trees("center", 40, 5)))
    return path


@pytest.fixture
def news(tmp_path: Path) -> Path:
    (tmp_path / "news.mrg").write_text(NEWS)
    return tmp_path / "news.mrg"

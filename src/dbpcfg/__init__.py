"""dbpcfg: learn a phrase-structure grammar from raw text, under a human memory bound.

The model is the depth-bounded PCFG of Jin, Doshi-Velez, Miller, Schuler and Schwartz (TACL 2018).
Where to find what:

=====================  ========================================================================
``dbpcfg.options``     every option of induction, declared once
``dbpcfg.registry``    what other packages can add: readers, learners, systems …
``dbpcfg.io``          progress, threads, atomic writing, archives, tables
``dbpcfg.numerics``    compiled kernels, vector instructions, random numbers
``dbpcfg.trees``       the tree type, brackets in and out, drawings
``dbpcfg.corpus``      readers, preprocessing, sentences as arrays, synthetic corpora
``dbpcfg.evaluation``  PARSEVAL, noun phrases, labels, significance, memory depths
``dbpcfg.grammar``     the PCFG, its Dirichlet draws, its bounding: h, G(s,d), E⁺
``dbpcfg.parsing``     the chart, the left-corner parser, MBR trees, the N best trees
``dbpcfg.model``       a learned grammar: parse, surprisal, probability, generate, show
``dbpcfg.systems``     the systems that it is compared with
``dbpcfg.induction``   learners, chains, races, runs and their directories
``dbpcfg.cluster``     runs on a Dask cluster
``dbpcfg.experiments`` systems compared, grids of runs, and published tables run again
``dbpcfg.report``      the page of a run, and figures for papers
``dbpcfg.cli``         the command line
=====================  ========================================================================

Each imports only those above it. ``dbpcfg.estimator`` is the interface for scikit-learn.

The names below are the ones to begin with; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dbpcfg.version import __version__

if TYPE_CHECKING:
    from dbpcfg.cluster.connection import induce, resume
    from dbpcfg.corpus.reading import read
    from dbpcfg.errors import DbpcfgError
    from dbpcfg.evaluation.evaluate import evaluate
    from dbpcfg.experiments.compare import compare
    from dbpcfg.induction.learners.expectation import EM, VariationalBayes
    from dbpcfg.induction.learners.gibbs import Gibbs
    from dbpcfg.induction.learners.neural import Neural
    from dbpcfg.model.files import load
    from dbpcfg.model.model import Model
    from dbpcfg.model.pairs import minimal_pairs
    from dbpcfg.trees.tree import Tree

__all__ = [
    "EM",
    "DbpcfgError",
    "Gibbs",
    "Model",
    "Neural",
    "Tree",
    "VariationalBayes",
    "__version__",
    "compare",
    "evaluate",
    "induce",
    "load",
    "minimal_pairs",
    "read",
    "resume",
]

_HOME = {
    "DbpcfgError": "dbpcfg.errors",
    "EM": "dbpcfg.induction.learners.expectation",
    "Gibbs": "dbpcfg.induction.learners.gibbs",
    "Model": "dbpcfg.model.model",
    "Neural": "dbpcfg.induction.learners.neural",
    "Tree": "dbpcfg.trees.tree",
    "VariationalBayes": "dbpcfg.induction.learners.expectation",
    "compare": "dbpcfg.experiments.compare",
    "evaluate": "dbpcfg.evaluation.evaluate",
    "induce": "dbpcfg.cluster.connection",
    "load": "dbpcfg.model.files",
    "minimal_pairs": "dbpcfg.model.pairs",
    "read": "dbpcfg.corpus.reading",
    "resume": "dbpcfg.cluster.connection",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'dbpcfg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

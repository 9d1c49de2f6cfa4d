"""dbpcfg: learn a phrase-structure grammar from raw text, under a human memory bound.

The model is the depth-bounded PCFG of Jin, Doshi-Velez, Miller, Schuler and Schwartz (TACL 2018).
Where to find what:

======================  =======================================================================
``dbpcfg.trees``        the tree type, its spans, brackets in and out
``dbpcfg.corpus``       readers, preparation, sentences as arrays, synthetic corpora
``dbpcfg.grammar``      the PCFG, its file format, and its bounding: h, G(s,d), E⁺
``dbpcfg.parsing``      the chart, the left-corner parser, minimum-Bayes-risk decoding
``dbpcfg.model``        a learned grammar ready for other text
``dbpcfg.parse``        trees for other text; so ``.surprisal``, ``.heldout``, ``.generation``
``dbpcfg.induction``    the Gibbs step, chains, convergence, runs
``dbpcfg.evaluation``   PARSEVAL, noun phrases, labels, significance, memory depths
``dbpcfg.rivals``       other ways to get trees, and ``dbpcfg.comparison`` of them all
``dbpcfg.pictures``     trees as SVG and LaTeX; ``dbpcfg.report``, the page of a run
======================  =======================================================================

The names below are the ones to begin with; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from dbpcfg.corpus.reading import read
    from dbpcfg.evaluation.evaluate import evaluate
    from dbpcfg.induction.induce import induce, resume
    from dbpcfg.modelfiles import load
    from dbpcfg.trees import Tree

__all__ = ["Tree", "__version__", "evaluate", "induce", "load", "read", "resume"]

_HOME = {
    "Tree": "dbpcfg.trees",
    "evaluate": "dbpcfg.evaluation.evaluate",
    "induce": "dbpcfg.induction.induce",
    "load": "dbpcfg.modelfiles",
    "read": "dbpcfg.corpus.reading",
    "resume": "dbpcfg.induction.induce",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'dbpcfg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

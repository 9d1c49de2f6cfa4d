"""Competence and performance: a grammar with and without a memory bound.

The paper's G is competence, a grammar without a bound; G(s,d) is the performance of a speaker with
D memory elements. This module compares the two:

* h(s,d,c), the probability that c yields words within the bound (`containment_table`);
* G(s,d), the rules of the bounded grammar (`bounded_table`), also as an ordinary PCFG whose
  categories are those of G with a side and a depth (`bounded_pcfg`);
* the share of the probability that fits the bound (`kept_mass`, `mass_table`).

**Derivations that never end.** A PCFG may give some probability to derivations that never end.
These fit no bound; as D grows, Z(D) approaches the probability that a derivation ends:
Z(1) ≤ Z(2) ≤ … → Z(∞). So there are two shares, Z(D) of all derivations and Z(D) / Z(∞) of the
trees. They are equal if derivations end with probability one.

**Use.** The expected number of nodes of each category, side and depth in a sentence of the bounded
grammar (`expected_use`). A node on level m (see ``bounding``) has one child on level m and one on
level m + 1. With S and N the expected numbers of each category among these children under G(s,d)::

    use(m) = entering(m) + use(m) · S      = entering(m) · (I − S)⁻¹
    entering(m+1) = use(m) · N,            entering(0) = π under the bound

which is one exact linear system for each level. Without a bound, levels are followed until hardly
any nodes enter the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import (
    absorption,
    bounded_binary,
    bounded_children,
    bounded_lexical,
    bounded_root,
    check_depth,
    children,
    containment,
    fitting_mass,
    is_right,
    left_child,
    level_name,
    quotient,
    require_fitting,
    right_child,
    termination,
)
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.rules import MAX_ENTRIES
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.numerics.kernels import Floats

MAX_TABLE_DEPTH = 1000
_DECIMALS = 4
_ENDS = 1e-7  # how accurate the iteration for termination is in the worst case


@dataclass(frozen=True, slots=True)
class KeptMass:
    """The share of a grammar's probability that fits a bound."""

    depth: int | None
    """The bound; None for no bound."""
    derivations: float
    """Z(D): the share of all derivations that fits."""
    trees: float | None
    """Z(D) / Z(∞): the share of the derivations that end; None if none does."""
    exactly: float | None
    """The share of trees that need exactly this depth; None without a bound."""


def kept_mass(grammar: Grammar, depths: Sequence[int]) -> list[KeptMass]:
    """The shares of the probability that fit several bounds."""
    deepest = max(map(_checked_depth, depths), default=1)
    # The levels above (L,D+1) do not depend on D, so one pass serves all bounds.
    h = containment(grammar, deepest)
    fits = [0.0, *(float(grammar.root @ h[2 * (deepest - d)]) for d in range(1, deepest + 1))]
    # The result of the iteration may be slightly less than the last of these.
    ends = min(1.0, max(float(grammar.root @ termination(grammar)), fits[-1]))
    rows = [
        KeptMass(
            depth,
            fits[depth],
            fits[depth] / ends if ends else None,
            max(0.0, fits[depth] - fits[depth - 1]) / ends if ends else None,
        )
        for depth in depths
    ]
    return [*rows, KeptMass(None, ends, 1.0 if ends else None, None)]


def mass_table(grammar: Grammar, depths: Sequence[int]) -> Table:
    """A table of the shares of the probability that fit several bounds."""
    rows = kept_mass(grammar, depths)
    ends, notes = rows[-1].derivations, []
    if ends == 0.0:
        notes = ["No derivation of this grammar ends: it has no trees."]
    elif ends < 1.0 - _ENDS:
        notes = [
            f"{100 * (1 - ends):.{_DECIMALS}f}% of this grammar's derivations never end; no bound "
            "keeps those.",
            "Shares of trees are of the derivations that end.",
        ]
    columns = [
        Column("depth", "count"),
        Column("fits, % of derivations", "percent", "derivations", _DECIMALS),
        Column("fits, % of trees", "percent", "trees", _DECIMALS),
        Column("needs just this, % of trees", "percent", "exactly", _DECIMALS),
    ]
    cells: list[list[Cell]] = [
        ["none" if row.depth is None else row.depth, row.derivations, row.trees, row.exactly]
        for row in rows
    ]
    return Table("Probability that a bound on memory keeps", columns, cells, notes)


def containment_table(grammar: Grammar, depth: int) -> Table:
    """h(s,d,c): a row for each category, a column for each side and depth."""
    h = containment(grammar, _checked_depth(depth))
    columns = [Column("category"), *_level_columns(h)]
    rows: list[list[Cell]] = [[name, *h[:, c].tolist()] for c, name in enumerate(grammar.names)]
    return Table(f"h(s,d,c) with a bound of {depth}", columns, rows)


def bounded_table(grammar: Grammar, depth: int, max_rules: int | None = 10) -> Table:
    """G next to G(s,d), for the most probable rules of T and of every category.

    ``max_rules``: the most rules for each symbol; None for all.
    """
    h = containment(grammar, _checked_depth(depth))
    require_fitting(grammar, h)
    columns = [Column("rule"), Column("G", "number", "g", _DECIMALS), *_level_columns(h)]
    names, words = grammar.names, grammar.vocabulary.words
    rows: list[list[Cell]] = []
    root = bounded_root(grammar, h)
    for c in _greatest(grammar.root, max_rules):  # T is on no level; its child is L1
        rows.append(
            [f"T → {names[c]}", float(grammar.root[c]), float(root[c]), *[None] * 2 * depth]
        )
    right = [f"{a} {b}" for a in names for b in names] + list(words)
    for c, name in enumerate(names):
        binary = grammar.binary_of(c)
        row = np.concatenate([binary.reshape(-1), grammar.lexical[c]])
        chosen = _greatest(row, max_rules)
        under = np.zeros((len(row), len(h)))
        for level in range(len(h)):
            pairs = np.zeros_like(binary)
            if level < len(h) - 1:  # the last one has words only
                on_left, on_right = children(level, len(h))
                pairs = binary * h[on_left][:, np.newaxis] * h[on_right]
            unscaled = np.concatenate([pairs.reshape(-1), grammar.lexical[c]])
            under[:, level] = quotient(unscaled, h[level, c : c + 1])
        for rule in chosen:
            rows.append([f"{name} → {right[rule]}", float(row[rule]), *under[rule].tolist()])
    notes = [] if max_rules is None else [f"The {max_rules} most probable rules of each symbol."]
    return Table(f"G and G(s,d) with a bound of {depth}", columns, rows, notes)


def bounded_pcfg(grammar: Grammar, depth: int) -> Grammar:
    """The bounded grammar as a PCFG without a bound, with the same sentence probabilities.

    Its categories are those of G on each level, such as ``NP/L1``; those that cannot fit are left
    out.
    """
    h = containment(grammar, _checked_depth(depth))
    require_fitting(grammar, h)
    levels, chosen = np.nonzero(h > 0)
    n = len(chosen)
    if n**3 + n * len(grammar.vocabulary) > MAX_ENTRIES:
        raise GrammarError(
            f"with a bound of {depth} the {grammar.categories} categories become {n:,}, too many "
            "to write out; take a smaller depth"
        )
    number = np.full(h.shape, -1)
    number[levels, chosen] = np.arange(n)
    root, binary = np.zeros(n), np.zeros((n, n, n))
    lexical = np.zeros((n, len(grammar.vocabulary)))
    root[number[0, h[0] > 0]] = bounded_root(grammar, h)[h[0] > 0]
    for level in range(len(h)):
        fits = h[level] > 0
        lexical[number[level, fits]] = bounded_lexical(grammar, h, level)[fits]
    for level in range(len(h) - 1):  # on the last one there are only words
        rules = bounded_binary(grammar, h, level)
        c, a, b = np.nonzero(rules)
        left, right = number[left_child(level), a], number[right_child(level), b]
        binary[number[level, c], left, right] = rules[c, a, b]
    names = [
        f"{grammar.names[c]}/{level_name(m)}" for m, c in zip(levels.tolist(), chosen.tolist())
    ]
    return Grammar(root, binary, lexical, grammar.vocabulary).named(names)


def _checked_depth(depth: int) -> int:
    if depth > MAX_TABLE_DEPTH:
        raise GrammarError(f"the depth bound must be at most {MAX_TABLE_DEPTH:,}, got {depth:,}")
    return check_depth(depth)


def _level_columns(h: Floats) -> list[Column]:
    names = [level_name(level) for level in range(len(h))]
    return [Column(name, "number", name.lower(), _DECIMALS) for name in names]


def _greatest(row: Floats, max_rules: int | None) -> list[int]:
    """The numbers of the most probable rules of a row, without impossible ones."""
    order = np.argsort(-row, kind="stable")[:max_rules]
    return [int(rule) for rule in order if row[rule] > 0]


MAX_DEPTHS = 50
NEGLIGIBLE = 1e-9
"""Without a bound, levels end when fewer nodes than this enter the next one."""


def expected_use(grammar: Grammar, depth: int | None) -> tuple[Floats, Floats]:
    """Expected numbers ``[level, c]`` of nodes, and of nodes that are words, in a sentence.

    With a bound there are 2D + 1 levels; without one, at most a hundred.

    ``depth``: the bound D; None for no bound.
    """
    K = grammar.categories
    h = containment(grammar, depth)
    levels = 2 * MAX_DEPTHS if depth is None else len(h) - 1
    entering = bounded_root(grammar, h)
    use, words = [], []
    for level in range(levels):
        row = 0 if depth is None else level
        left, right = bounded_children(grammar, h, row)
        same_level, next_level = (right, left) if is_right(level) else (left, right)
        lexical = quotient(grammar.lexical_mass, h[row])
        use.append(entering @ absorption(same_level, lexical, np.eye(K)))
        words.append(use[-1] * lexical)
        entering = use[-1] @ next_level
        if depth is None and entering.sum() < NEGLIGIBLE:
            break
    if depth is not None:
        use.append(entering)  # (L,D+1): words
        words.append(entering)
    return np.array(use), np.array(words)


def expected_depths(grammar: Grammar, depth: int | None, max_depth: int = 5) -> Floats:
    """``[d − 1]``: the share of sentences that need exactly memory depth d.

    Of the trees that fit the bound D, a share of Z_d / Z_D fits a bound d. Without a bound, the
    shares of the first few depths need not sum to one.

    ``depth``: the bound D; None for no bound.
    """
    mass = require_fitting(grammar, containment(grammar, depth))
    depths = range(1, (max_depth if depth is None else depth) + 1)
    within = [fitting_mass(grammar, containment(grammar, d)) for d in depths]
    shares: Floats = np.diff(within, prepend=0.0).clip(0.0) / mass
    return shares

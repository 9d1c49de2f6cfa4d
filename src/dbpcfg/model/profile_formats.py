"""A grammar's profile as text for a terminal, tables for papers, or JSON.

Text keeps to the width of the page: a line has as many words, or rules, as fit.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dbpcfg.evaluation.labels import NO_PHRASE, Contingency
from dbpcfg.grammar.bounding import level_name
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.model.grammar_profile import CategoryUse, Profile

TOP = 12
"""Words and rules of a category, at most."""
RARE = 0.001
"""Categories with a smaller share of all nodes are only named."""
LEAST, LEAST_RULE = 0.0005, 0.005
"""Smaller shares are left out of lists: mostly they are what the prior left."""
SELDOM = 0.015
"""A category whose share of words is smaller has no list of words; likewise with rules."""
LONGEST = 24
"""Characters of a word that are shown, at most."""
NARROWEST, MOST_LEVELS = 40, 12
BAR = 10


def as_text(
    profile: Profile, width: int = 80, top: int = TOP, bold: bool = False, ascii: bool = False
) -> str:
    """A profile as text.

    ``bold``: whether categories are in bold, by the escape codes of terminals.
    """
    width = max(width, NARROWEST)
    share = profile.use.share
    shown = [c for c in profile.order if share[c] >= RARE]
    rare = [profile.grammar.names[c] for c in profile.order if share[c] < RARE]
    blocks = ["\n".join(textwrap.fill(line, width) for line in _summary(profile))]
    blocks += [_category(profile, c, width, top, bold, ascii) for c in shown]
    if rare:
        blocks.append(textwrap.fill(f"Hardly used, if at all: {', '.join(rare)}", width))
    blocks.append(_positions_text(profile, shown, width))
    text = "\n\n".join(blocks)
    return text.encode("ascii", "replace").decode() if ascii else text


def _summary(profile: Profile) -> list[str]:
    grammar, depth = profile.grammar, profile.depth
    bound = "without a memory bound" if depth is None else f"within memory depth {depth}"
    lines = [
        f"A grammar of {grammar.categories:,} categories and {len(grammar.vocabulary):,} words, "
        f"{bound}."
    ]
    if profile.counted is not None:
        lines.append(
            f"Use is counted in the {profile.trees:,} trees of the run, of "
            f"{profile.counted.length:.1f} words on average."
        )
    needs = ", ".join(f"{_percent(share)} need depth {d}" for d, share in _depths(profile))
    lines.append(
        f"Generated sentences have {profile.expected.length:.1f} words on average; {needs}."
    )
    return lines


def _depths(profile: Profile) -> list[tuple[int, float]]:
    return [(d, p) for d, p in enumerate(profile.depths.tolist(), start=1) if p >= LEAST]


def _category(profile: Profile, c: int, width: int, top: int, bold: bool, ascii: bool) -> str:
    name, share = profile.grammar.names[c], profile.use.share
    column = max(map(len, profile.grammar.names)) + 2
    margin = " " * column
    bar = ("#" if ascii else "█") * max(1, round(BAR * share[c] / share.max()))
    word_share = float(profile.use.word_share[c])
    head = f"{bar.ljust(BAR)} {_percent(share[c])} of nodes, {_percent(word_share)} of them words"
    if profile.root[c] >= LEAST:
        head += f", {_percent(profile.root[c])} of roots"
    head = textwrap.fill(margin + head, width, subsequent_indent=margin, drop_whitespace=True)
    shown = f"\x1b[1m{name}\x1b[0m" if bold else name
    words, rules = _words(profile, c, top), _rules(profile, c, top)
    lists = [(f"{margin}words ", words), (f"{margin}rules ", rules)]
    if word_share < 0.5:
        lists.reverse()
    if profile.meanings is not None:
        for title, table in (("gold", profile.meanings.phrases), ("tags", profile.meanings.words)):
            number, labels = _gold(table, name, top)
            lists.append((f"{margin}{title}   {number:,}:", labels))
    lines = [_line(start, items, width) for start, items in lists if items]
    return "\n".join([shown + head[len(name) :], *lines])


def _words(profile: Profile, c: int, top: int) -> list[tuple[str, float]]:
    """Words to show, with their probabilities."""
    if profile.use.word_share[c] < SELDOM:
        return []
    return _above(LEAST, [(_printable(word), p) for word, p in profile.words(c, top)])


def _rules(profile: Profile, c: int, top: int) -> list[tuple[str, float]]:
    """Rules to show, with their probabilities."""
    if profile.use.word_share[c] > 1 - SELDOM:
        return []
    return _above(LEAST_RULE, [(f"{a} {b}", p) for (a, b), p in profile.rules(c, top)])


def _above(least: float, items: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The first item, and those that are not too improbable."""
    return items[:1] + [item for item in items[1:] if item[1] >= least]


def _line(start: str, items: Iterable[tuple[str, float]], width: int) -> str:
    """The first item and as many more as there is room for, with their shares."""
    line = start
    for name, share in items:
        item = f" {name} {_percent(share)} "
        if line != start and len(line) + len(item) > width + 1:
            break
        line += item
    return line.rstrip()


def _gold(table: Contingency, name: str, top: int) -> tuple[int, list[tuple[str, float]]]:
    """How often a category meets gold labels, and the share of each, most frequent first."""
    if name not in table.induced:
        return 0, []
    row = table.counts[table.induced.index(name)]
    order = np.argsort(-row, kind="stable")[:top].tolist()
    labels = ["no phrase" if label == NO_PHRASE else label for label in table.gold]
    return int(row.sum()), [(labels[g], float(row[g] / row.sum())) for g in order if row[g]]


def _positions(profile: Profile, categories: Iterable[int], levels: int) -> Table:
    """Nodes in a hundred sentences by side and depth, on the first ``levels`` levels."""
    use, names = profile.use, profile.grammar.names
    columns = [Column("", key="category")]
    columns += [Column(level_name(level), "count") for level in range(levels)]
    rows = [(names[c], *(100 * use.nodes[:levels, c]).tolist()) for c in categories]
    rows.append(("all", *(100 * use.nodes[:levels].sum(axis=1)).tolist()))
    whose = "the grammar's own sentences" if profile.counted is None else "the run's trees"
    title = f"Nodes in 100 of {whose}, by side (left, right) and depth"
    notes = []
    if levels < len(use.nodes):
        notes.append(f"and so on, to {level_name(len(use.nodes) - 1)}")
    if profile.depth is not None and len(use.nodes) > len(profile.expected.nodes):
        notes.append("MBR trees may go beyond the bound")
    return Table(title, columns, rows, notes)


def _positions_text(profile: Profile, categories: list[int], width: int) -> str:
    """The same as text, with as many levels as fit."""
    levels = min(len(profile.use.nodes), MOST_LEVELS)
    while True:
        table = _positions(profile, categories, levels)
        bare = replace(table, title="", notes=()).text()
        if levels == 1 or max(map(len, bare.splitlines())) <= width:
            break
        levels -= 1
    title, *notes = (textwrap.fill(text, width) for text in (table.title, *table.notes))
    return "\n".join([title, bare, *notes])


def as_tables(profile: Profile, top: int = 5) -> list[Table]:
    """A profile as tables: the categories, their positions, and any gold labels."""
    columns = [
        Column("Category"),
        Column("Use", "percent"),
        Column("Words", "percent"),
        Column("Root", "percent"),
        Column("Most probable words", key="words_listed"),
        Column("Most probable rules", key="rules_listed"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for c in profile.order:
        facts = (profile.use.share[c], profile.use.word_share[c], profile.root[c])
        lists = (_words(profile, c, top), _rules(profile, c, top))
        listed = (", ".join(item for item, _ in items) for items in lists)
        rows.append((profile.grammar.names[c], *map(float, facts), *listed))
    tables = [
        Table("Categories", columns, rows, _summary(profile)),
        _positions(profile, profile.order, min(len(profile.use.nodes), MOST_LEVELS)),
    ]
    if profile.meanings is not None:
        both = (profile.meanings.phrases, profile.meanings.words)
        labels: list[tuple[Cell, ...]] = []
        for name in (profile.grammar.names[c] for c in profile.order):
            met = [_gold(table, name, top)[1] for table in both]
            labels.append((name, *(", ".join(f"{g} {_percent(p)}" for g, p in gs) for gs in met)))
        heads = [Column("Category"), Column("Gold phrases"), Column("Gold tags")]
        tables.append(Table("Gold labels of categories", heads, labels))
    return tables


def as_json(profile: Profile, top: int = TOP) -> dict[str, Any]:
    """A profile as JSON; numbers by level are means over sentences."""
    grammar, meanings = profile.grammar, profile.meanings
    categories = []
    for c in profile.order:
        name = grammar.names[c]
        entry: dict[str, Any] = {
            "name": name,
            "root": float(profile.root[c]),
            "expected": _use_json(profile.expected, c),
            "counted": None if profile.counted is None else _use_json(profile.counted, c),
            "words": [{"word": w, "probability": p} for w, p in profile.words(c, top)],
            "rules": [{"rule": list(ab), "probability": p} for ab, p in profile.rules(c, top)],
        }
        if meanings is not None:
            entry["gold"] = {
                "phrases": _counts_json(meanings.phrases, name),
                "tags": _counts_json(meanings.words, name),
            }
        categories.append(entry)
    return {
        "depth": profile.depth,
        "vocabulary": len(grammar.vocabulary),
        "fitting_probability": profile.fitting,
        "depths": profile.depths.tolist(),
        "expected_length": profile.expected.length,
        "trees": profile.trees,
        "mean_length": None if profile.counted is None else profile.counted.length,
        "categories": categories,
    }


def _use_json(use: CategoryUse, c: int) -> dict[str, Any]:
    words = float(use.word_share[c])
    return {
        "share": float(use.share[c]),
        "word_share": None if np.isnan(words) else words,
        "levels": {level_name(m): float(row[c]) for m, row in enumerate(use.nodes)},
    }


def _counts_json(table: Contingency, name: str) -> dict[str, int]:
    if name not in table.induced:
        return {}
    row = table.counts[table.induced.index(name)].tolist()
    return {label: number for label, number in zip(table.gold, row) if number}


def _percent(share: float) -> str:
    """About two digits of a percentage: 0.3%, 3.1%, 31%."""
    if np.isnan(share):
        return "–"
    percent = 100 * share
    return f"{percent:.0f}%" if percent >= 9.95 else f"{percent:.1f}%"


def _printable(word: str) -> str:
    shown = "".join(letter if letter.isprintable() else "?" for letter in word)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"

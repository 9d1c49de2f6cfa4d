"""A grammar as JSON: one object, its rules one a line.

::

    {
      "start": "T",
      "categories": ["S", "NP", "VP"],
      "words": ["dog", "barks"],
      "rules": [
        {"parent": "T", "children": ["S"], "probability": 1.0},
        {"parent": "S", "children": ["NP", "VP"], "probability": 1.0},
        {"parent": "NP", "word": "dog", "probability": 0.25},
        …
      ]
    }

Only ``rules`` must be there. ``start`` is otherwise the parent of the first rule, and
``categories`` and ``words`` only number what the rules have. Remarks may stand in ``notes``.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange.rules import (
    Rule,
    check_name,
    grammar_of,
    is_unicode,
    probability,
    quoted,
    rule_error,
    rules_of,
    top_symbol,
)
from dbpcfg.grammar.pcfg import Grammar

FORMAT, VERSION = "dbpcfg rules", 1
_KEYS = ("format", "version", "notes", "start", "categories", "words", "rules")
_RULE = 'a rule such as {"parent": "S", "children": ["NP", "VP"], "probability": 1.0}'
_REMEDY = 'for a word, write "word": "dog" instead of the children'


def to_json(grammar: Grammar, notes: list[str]) -> str:
    """Write a grammar as JSON."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "notes": notes,
        "start": top_symbol(grammar.names),
        "categories": grammar.names,
        "words": grammar.vocabulary.words,
    }
    lines = [f"  {_dump(key)}: {_dump(value)}" for key, value in head.items()]
    rules = ",\n".join(f"    {_dump(_as_object(rule))}" for rule in rules_of(grammar))
    return "{\n" + ",\n".join(lines) + ',\n  "rules": [\n' + rules + "\n  ]\n}\n"


def _as_object(rule: Rule) -> dict[str, Any]:
    below = {"word": rule.children[0]} if rule.lexical else {"children": rule.children}
    return {"parent": rule.parent, **below, "probability": rule.probability}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def from_json(text: str, source: str) -> Grammar:
    """Read a grammar from JSON."""
    content = _parsed(text, source)
    for key in content:
        if key not in _KEYS:
            raise rule_error(
                source, f"the key {quoted(key)}", ", ".join(_KEYS), "remove or mend it"
            )
    if content.get("format", FORMAT) != FORMAT or content.get("version", VERSION) != VERSION:
        found = f"format {content.get('format')!r:.40} and version {content.get('version')!r:.40}"
        remedy = "is it the right file, and is this program new enough?"
        raise rule_error(source, found, f"{FORMAT!r} and {VERSION}", remedy)
    start = content.get("start")
    if start is not None:
        _check_text(start, f"{source}: start")
    lists: dict[str, list[str]] = {}
    for key in ("categories", "words"):
        lists[key] = _list(content, key, source)
        for token in lists[key]:
            _check_text(token, f"{source}: {key}")
        if len(set(lists[key])) != len(lists[key]):
            remedy = "remove the second"
            raise rule_error(f"{source}: {key}", "one of them twice", "each once", remedy)
    rules = [
        _rule(item, f"{source}: rule {number}")
        for number, item in enumerate(_list(content, "rules", source), start=1)
    ]
    return grammar_of(rules, source, start, lists["categories"], lists["words"])


def _parsed(text: str, source: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            remedy = "remove one"
            raise rule_error(source, f"a key twice in {pairs!r:.80}", "each key once", remedy)
        return dict(pairs)

    def no_number(constant: str) -> NoReturn:
        remedy = "every rule needs its probability"
        raise rule_error(source, constant, "a probability from 0 to 1", remedy)

    try:
        content = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise rule_error(
            f"{source}:{error.lineno}:{error.colno}", error.msg, "JSON", "mend the text there"
        ) from None
    except GrammarError:
        raise
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise rule_error(source, f"what no rule table has ({error})", "JSON", "mend it") from None
    if not isinstance(content, dict):
        raise rule_error(source, type(content).__name__, 'an object with "rules"', _RULE)
    return content


def _list(content: dict[str, Any], key: str, source: str) -> list[Any]:
    value = content.get(key, [])
    if not isinstance(value, list):
        raise rule_error(f"{source}: {key}", f"{value!r:.40}", "a list", "put it in [ ]")
    return value


def _rule(item: Any, place: str) -> Rule:
    keys = set(item) if isinstance(item, dict) else set()
    lexical = "word" in keys
    if keys != {"parent", "word" if lexical else "children", "probability"}:
        raise rule_error(place, f"{item!r:.80}", _RULE, _REMEDY)
    children = [item["word"]] if lexical else item["children"]
    if not isinstance(children, list) or not children:
        raise rule_error(place, f"the children {children!r:.40}", "a list of categories", _REMEDY)
    for token in (item["parent"], *children):
        _check_text(token, place)
    for name in (item["parent"], *(() if lexical else children)):
        check_name(name, place)
    chance = item["probability"]
    if type(chance) not in (int, float):
        raise rule_error(place, f"{chance!r:.40}", "a probability from 0 to 1", "write a number")
    return Rule(item["parent"], tuple(children), probability(repr(chance), place), lexical, place)


def _check_text(token: Any, place: str) -> None:
    if not isinstance(token, str) or not token:
        raise rule_error(place, f"{token!r:.40}", "a text that is not empty", "put it in quotes")
    if not is_unicode(token):
        raise rule_error(place, f"{token!a:.40}", "Unicode text", "remove the lone surrogate")

"""Reading a text in a format; and texts that are nearly in it: good ones with a slip or two."""

from hypothesis import strategies as st

from dbpcfg.corpus.readers import Source, readers


def read_as(format, text, name="f", **options):
    """The sentences of a text, and what its reader noted."""
    source = Source(name, **options)
    return list(readers[format].read(text, source)), source


def trees_as(format, text, **options):
    return [str(sentence.tree) for sentence in read_as(format, text, **options)[0]]


def mutated(good: str, likely: str) -> st.SearchStrategy[str]:
    """`good` with up to three bits of it cut out or replaced by characters that matter."""
    junk = st.one_of(st.text(likely, max_size=3), st.text(max_size=2))
    slip = st.tuples(st.integers(0, len(good)), st.integers(0, 4), junk)
    return st.lists(slip, max_size=3).map(lambda slips: _apply(good, slips))


def texts(good: str, likely: str) -> st.SearchStrategy[str]:
    return st.one_of(mutated(good, likely), st.text(likely), st.text())


def _apply(good: str, slips: list[tuple[int, int, str]]) -> str:
    for start, length, junk in slips:
        good = good[:start] + junk + good[start + length :]
    return good

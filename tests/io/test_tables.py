"""Tables: exact text, exact LaTeX, and JSON that keeps every digit."""

import json

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import Column, Table, percent, plural, render

TABLE = Table(
    "Scores & more",
    [
        Column("System"),
        Column("F1", "percent"),
        Column("gold spans", "count"),
        Column("p", "number", key="p_value", decimals=3),
    ],
    [("right_branching", 0.47836, 9438, 0.00012), ("none", float("nan"), 0, None)],
    ["labels:no|span:>=2"],
)


def test_percentages():
    assert [percent(x) for x in (0.4784, 1, None, float("nan"))] == ["47.8", "100.0", "–", "–"]


def test_text():
    assert render([TABLE]) == str(TABLE)
    assert str(TABLE).splitlines() == [
        "Scores & more",
        "System             F1  gold spans      p",
        "---------------  ----  ----------  -----",
        "right_branching  47.8        9438  0.000",
        "none                –           0      –",
        "labels:no|span:>=2",
    ]


def test_json():
    assert json.loads(render([TABLE], "json")) == [
        {
            "title": "Scores & more",
            "rows": [
                {
                    "system": "right_branching",
                    "f1": 0.47836,
                    "gold_spans": 9438,
                    "p_value": 0.00012,
                },
                {"system": "none", "f1": None, "gold_spans": 0, "p_value": None},
            ],
            "notes": ["labels:no|span:>=2"],
        }
    ]


def test_latex():
    assert render([TABLE], "latex").splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"System & F1 & gold spans & p \\",
        r"\midrule",
        r"right\_branching & 47.8 & 9438 & 0.000 \\",
        r"none & -- & 0 & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        r"\parbox{\linewidth}{\footnotesize\raggedright "
        r"labels:no\textbar\allowbreak{}span:\textgreater{}=2}",
        r"\caption{Scores \& more}",
        r"\label{tab:scores-more}",
        r"\end{table}",
    ]


def test_the_best_score_is_bold_in_latex_and_nowhere_else():
    columns = [Column("System"), Column("F1", "score"), Column("left out", "percent")]
    rows = [("a", 0.7001, 0.5), ("b", 0.6, 0.1), ("c", 0.6999, 0.2), ("d", None, None)]
    table = Table("", columns, rows)
    cells = [line.split(" & ")[1] for line in table.latex().splitlines() if "&" in line][1:]
    assert cells == [r"\textbf{70.0}", "60.0", r"\textbf{70.0}", "--"]  # equal as they are shown
    assert table.latex().count("textbf") == 2
    assert "textbf" not in Table("", columns, rows[:1]).latex()
    assert "70.0" in table.text()


def test_other_formats():
    with pytest.raises(DbpcfgError, match="format must be text, json or latex, not 'html'"):
        render([TABLE], "html")
    assert Table("", [Column("System")], []).text() == "System\n------"


WIDE = Table(
    "Systems",
    [Column("System"), *(Column(f"column {n}", "number") for n in range(6)), Column("Remark")],
    [("right", *range(6), "it failed, for want of memory and of time"), ("left", *range(6), "")],
    ["labels:no|span:>=2|" * 6],
)


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_tables_are_not_wider_than_asked(width):
    for table in (TABLE, WIDE):
        lines = table.text(width).splitlines()
        assert max(map(len, lines)) <= width
        shown = "".join("".join(lines).split())
        for column in table.columns:
            assert "".join(column.name.split()) in shown
        assert "".join("".join(table.notes).split()) in shown


def test_columns_of_wide_characters_line_up():
    table = Table("", [Column("word"), Column("n", "count")], [("小狗", 2), ("dog", 10)])
    assert table.text().splitlines()[2:] == ["小狗   2", "dog   10"]


def test_a_table_that_fits_is_not_changed():
    assert TABLE.text(60) == TABLE.text() == str(TABLE)
    assert WIDE.text(500) == WIDE.text()


def test_wide_tables_wrap_texts_and_repeat_the_first_column():
    assert WIDE.text(60).splitlines() == [
        "Systems",
        "System  column 0  column 1  column 2  column 3  column 4",
        "------  --------  --------  --------  --------  --------",
        "right        0.0       1.0       2.0       3.0       4.0",
        "left         0.0       1.0       2.0       3.0       4.0",
        "",
        "System  column 5  Remark",
        "------  --------  ------------",
        "right        5.0  it failed,",
        "                  for want of",
        "                  memory and",
        "                  of time",
        "left         5.0",
        "labels:no|span:>=2|labels:no|span:>=2|labels:no|span:>=2|lab",
        "els:no|span:>=2|labels:no|span:>=2|labels:no|span:>=2|",
    ]


def test_a_number_has_its_noun():
    assert [plural(n, "tree") for n in (0, 1, 2000)] == ["0 trees", "1 tree", "2,000 trees"]
    assert [plural(n, "class", "classes") for n in (1, 2)] == ["1 class", "2 classes"]

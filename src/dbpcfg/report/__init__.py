"""The page of a run, figures for papers, and tables of several runs.

`runs`, `scores` and `sentences` make the data of the page's parts, and `assemble` makes the page
from it; the page's scripts are in ``page/``. `figures` draws the same data for papers;
`sweep` compares several runs.
"""

"""The page of a run, a page that answers sentences, figures for papers, tables of several runs.

`runs`, `scores` and `sentences` make the data of the page's parts, and `assemble` makes the page
from it; the page's scripts are in ``page/``. `explore` computes what the page of ``dbpcfg explore``
shows, by the same scripts, and `server` serves it. `figures` draws the same data for papers;
`sweep` compares several runs.
"""

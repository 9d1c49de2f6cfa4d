"""The page of a run, figures for papers, and tables of several runs.

`overview`, `runs`, `scores` and `sentences` make the data of the page's parts, `collect` puts it
together, and `assemble` makes the page of it; the programs that show the parts are in ``page/``.
`figures` draws the same data for papers; `sweep` sets several runs side by side.
"""

"""Experiments: systems on corpora, with settings and seeds, in cells that are kept when finished.

Three commands write a grid of cells, and one engine runs it.

================  ================================================================================
``corpora``       the sentences and gold trees of a cell, how trees are scored, a digest of both
``grid``          a cell, and the grid file, ``dbpcfg sweep``
``results``       the record of each cell on disk, tables of all cells
``running``       one cell, begun or resumed
``runners``       many cells: in processes, on a Dask cluster, or as a SLURM array
``scores``        the scores of runs: groups over seeds and chains, their spread, tests
``compare``       all systems on one corpus, ``dbpcfg compare``
``comparison``    its result: scores, tests against the best, tables
``recipe``        the recipe of a published table: its corpus, and the grids of its rows
``reproduce``     a published table, run again, ``dbpcfg reproduce``
``reproduction``  its tables, JSON and LaTeX
``demo``          the demonstration, ``dbpcfg demo``
``recipes/``      the recipes of the package
================  ================================================================================

A directory of results has one directory for each cell: the run of `dbpcfg.induce`, or the trees of
another system. Records are in ``.cells``.
"""

"""Experiments: systems on corpora, with settings and seeds, in cells that are kept when finished.

Three commands run grids of cells with the same engine.

================  ================================================================================
``corpora``       the sentences and gold trees of a cell, how trees are scored, a digest of both
``grid``          a cell, and the grid file, ``dbpcfg sweep``
``results``       the record of each cell on disk, tables of all cells
``running``       one cell, begun or resumed
``scheduling``    many cells: in processes, on a Dask cluster, or as a SLURM array
``scores``        the scores of runs: groups over seeds and chains, their spread, tests
``compare``       all systems on one corpus, ``dbpcfg compare``
``comparison``    its result: scores, tests against the best, tables
``recipe``        the recipe of a published table: its corpus, rows and figures
``recipe_cells``  the corpus and the cells of a recipe, as files
``reproduce``     a published table, run again, ``dbpcfg reproduce``
``reproduction``  its tables, JSON and LaTeX
``dbpcfg_system`` dbpcfg itself as one of the systems
``demo``          the demonstration, ``dbpcfg demo``
``recipes/``      the recipes of the package
================  ================================================================================

A directory of results has one directory for each cell: the run of `dbpcfg.induce`, or the trees of
another system. Records are in ``.cells``.
"""

"""Experiments: systems on corpora, with settings and seeds, in cells that are kept when finished.

Three commands write a grid of cells, and one engine runs it.

==============  ==================================================================================
``keys``        what each key of a grid file or recipe may be; errors that name the line
``corpora``     the sentences and gold trees of a cell, how trees are scored, a digest of both
``grid``        a cell, and the grid file, ``dbpcfg sweep``
``results``     the record of each cell on disk, the spread over seeds, tables of all cells
``running``     one cell, begun or resumed
``runners``     many cells: in processes, on a Dask cluster, or as a SLURM array
``comparison``  the scores of several systems on one corpus, and tests against the best
``compare``     all systems on one corpus, ``dbpcfg compare``
``recipe``      the recipe of a published table
``rows``        its corpus, and the cells of its rows
``reproduce``   a published table, run again, ``dbpcfg reproduce``
``output``      its tables, JSON and LaTeX
``recipes/``    the recipes of the package
==============  ==================================================================================

A directory of results has one directory for each cell: the run of `dbpcfg.induce`, or the trees of
another system. Records are in ``.cells``.
"""

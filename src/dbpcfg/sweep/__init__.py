"""A grid of runs over corpora, K, D, β, seeds and systems.

==============  ==================================================================================
``keys``        what each key of a grid file may be
``gridtext``    checks of keys and values, with the line of what is wrong
``gridfile``    the grid file: read, and checked before anything runs
``cells``       the cells of a grid, and their names
``corpora``     the sentences and gold trees of a cell, and a digest of their files
``record``      what is known of a cell: its settings, its state, its scores
``running``     ``run_cell``: one cell, begun or resumed
``watching``    what is called while cells run
``pool``        cells one after the other or side by side, each worker a process
``tables``      all cells, and their spread over seeds
``slurm``       a script that runs each cell as a task of a SLURM array
==============  ==================================================================================

The directory of a sweep has one directory for each cell: the run of `dbpcfg.induce`, or, for other
systems, the result of `dbpcfg.compare`. Records are in ``.cells``.
"""

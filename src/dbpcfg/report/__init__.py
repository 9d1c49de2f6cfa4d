"""The page of a run, figures for papers, and tables of several runs.

Each part of the page is a module here, and a program of the same name in ``page/``:

=================  ===============================================================================
``overview``       text, settings, versions, the command to repeat the run
``chains``         log-likelihoods over time, and whether the chains agree
``scores``         PARSEVAL of every chain and of baselines
``other_systems``  a comparison with other systems; ``matching``: whether it is of the same text
``grammar``        categories with words, rules and gold labels
``sentences``      sentences and their trees; ``packing``: their numbers as short text
``memory``         depths that sentences need
=================  ===============================================================================

``collect`` puts their data together, ``assemble`` makes the page of it. ``figures`` and
``plotting`` draw the same data for papers; ``sweep`` and ``sweep_figure`` set several runs side by
side.
"""

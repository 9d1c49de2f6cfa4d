"""Several systems on one corpus, scored by one convention.

==============  ==================================================================================
``compare``     run every system that has not run yet, score it, test it against the best
``task``        the corpus that all systems get, and its digest
``worker``      one system in a process of its own: its trees, time and memory
``store``       the directory that keeps finished runs
``summary``     the scores of each system over its runs; the best system, and tests against it
``result``      ``Comparison``, and its tables
``data``        a comparison as plain data, for ``comparison.json`` and for reports
==============  ==================================================================================
"""

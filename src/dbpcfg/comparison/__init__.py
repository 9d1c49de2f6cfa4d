"""Every system on one corpus, with one scorer.

==============  ==================================================================================
``compare``     all of it in order: run what has not been run, score, put side by side
``task``        the one corpus that all systems get, and its fingerprint
``apart``       one system in a process of its own: its trees, its time, its memory
``results``     the directory that keeps what is finished
``records``     its JSON files
``standing``    what the runs of each system came to; which is best, and tests against it
``table``       tables of that
``data``        a comparison as plain data, for reports
==============  ==================================================================================
"""

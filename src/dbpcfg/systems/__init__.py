"""Every system that finds trees from words alone, under one interface.

==============  ==================================================================================
``protocol``    the interface: ``fit`` learns from sentences, ``trees`` returns their trees
``registry``    every system by name, with its settings
``words``       the input of a system, and its trees with the words as written
``branching``   baselines: right, left, balanced and random trees
``ccl``         common cover links (Seginer 2007)
``upparse``     cascaded chunkers (Ponvert, Baldridge and Erk 2011)
``dbpcfg``      the depth-bounded PCFG of this package
``spans``       trees from nested spans
``checks``      checks that systems have in common
==============  ==================================================================================
"""

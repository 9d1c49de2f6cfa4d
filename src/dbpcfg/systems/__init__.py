"""Systems that find trees from words alone, with one interface.

==============  ==================================================================================
``registry``    the interface, all systems by name, their settings and input
``branching``   baselines: right, left, balanced and random trees
``ccl``         common cover links (Seginer 2007)
``upparse``     cascaded chunkers (Ponvert, Baldridge and Erk 2011)
``bmmm``        word classes (Christodoulopoulos, Goldwater and Steedman 2011)
``dmv``         dependencies between tags (Klein and Manning 2004); in a loop with BMMM, BMMM+DMV
                (Christodoulopoulos, Goldwater and Steedman 2012)
``uhhmm``       hierarchical hidden Markov model of left-corner parsing (Shain et al. 2016)
``dbpcfg``      the depth-bounded PCFG of this package
==============  ==================================================================================
"""

"""Parsers for one model, and the trees they give.

``chart`` is polynomial in the depth bound and is what induction runs; ``lowrank`` is the chart of a
grammar of low rank; ``leftcorner`` is the paper's own incremental algorithm. They compute the same
distribution, and the tests hold them to it. ``parsers.parser_of`` gives a grammar its parser.
"""

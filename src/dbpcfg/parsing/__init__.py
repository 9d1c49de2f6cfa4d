"""Parsers.

``chart`` is polynomial in the depth bound and is used for induction; ``lowrank`` is the chart of
low-rank grammars; ``leftcorner`` is the paper's incremental algorithm. They compute the same
distribution, which tests check. ``parsers.parser_of`` returns the parser of a grammar.
"""

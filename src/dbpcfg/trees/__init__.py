"""Phrase-structure trees: the type, brackets, and drawings."""

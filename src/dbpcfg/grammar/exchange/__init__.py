"""Grammars as files that other programs read and people write."""

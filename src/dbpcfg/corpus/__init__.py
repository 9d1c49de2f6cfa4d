"""Corpora: readers, preprocessing, and sentences as arrays of word numbers."""

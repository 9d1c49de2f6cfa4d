"""A learned grammar and what can be done with it."""

"""A learned grammar: parse, measure, generate, show, save."""

"""Learning a grammar from sentences."""

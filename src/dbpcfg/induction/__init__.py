"""Learning a grammar from sentences: the Gibbs step, chains, convergence, run directories."""

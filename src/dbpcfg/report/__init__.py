"""What was learned, to look at: one page for a run, figures for papers, sweeps over runs."""

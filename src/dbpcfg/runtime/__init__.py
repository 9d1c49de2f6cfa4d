"""How work runs: progress, processes."""

"""How work runs: threads, processes, progress."""

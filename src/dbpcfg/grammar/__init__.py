"""The grammar: a PCFG, its draws, its files, and what a memory bound makes of it."""

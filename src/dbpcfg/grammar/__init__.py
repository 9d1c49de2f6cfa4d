"""The grammar: a PCFG, draws from its prior and posterior, its files, and its memory bound."""

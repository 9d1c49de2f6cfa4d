"""The parser of low-rank grammars: inside and outside in rank space."""

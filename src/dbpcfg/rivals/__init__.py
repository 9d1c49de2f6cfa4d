"""Other ways to get trees from words, to compare with."""

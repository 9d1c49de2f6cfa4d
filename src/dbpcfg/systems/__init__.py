"""Every way to get trees from words alone, under one interface."""

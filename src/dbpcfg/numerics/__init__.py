"""How numbers are computed: compiled kernels, vector instructions, random numbers."""

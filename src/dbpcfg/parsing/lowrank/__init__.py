"""The chart of a low-rank grammar, in rank space: inside, outside, expected counts, posteriors."""

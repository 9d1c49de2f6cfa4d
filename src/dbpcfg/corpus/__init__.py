"""Text as the model sees it: sentences of numbered words, and where they come from."""

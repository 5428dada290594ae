"""The catalogue that agents announced."""

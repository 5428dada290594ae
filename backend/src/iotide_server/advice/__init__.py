"""Advice from facts and results: what is wrong, the numbers behind it, and the remedy."""

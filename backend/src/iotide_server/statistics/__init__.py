"""Pure mathematics of results, without input or output."""

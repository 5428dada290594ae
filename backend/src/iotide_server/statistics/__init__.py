"""Pure mathematics of results."""

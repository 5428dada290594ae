"""A plan expanded into cells and runs."""

"""Points of series."""

"""Changes of series."""

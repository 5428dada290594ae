"""Events and their effects on series."""

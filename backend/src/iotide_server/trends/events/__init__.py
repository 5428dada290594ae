"""Events: what changed around a series, and what followed."""

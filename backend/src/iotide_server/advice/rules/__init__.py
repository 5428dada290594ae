"""Rules, each a pure function from the scene to findings."""

"""The rules, each a pure function from the scene to what it finds there."""

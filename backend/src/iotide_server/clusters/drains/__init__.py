"""Drained nodes, targets and clusters, on which no run starts."""

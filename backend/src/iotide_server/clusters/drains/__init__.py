"""Drains of nodes, targets and clusters."""

"""Counters of the node during a load, one module per kernel interface."""

"""Workloads: one file each, with options, commands and parsing of a tool; without input or output."""

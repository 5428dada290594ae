"""Workloads: one file per tool, with its options, commands and parser."""

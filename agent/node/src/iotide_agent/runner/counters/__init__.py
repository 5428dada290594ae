"""Counters of the node while a load runs, a file for each place of the kernel that keeps some."""

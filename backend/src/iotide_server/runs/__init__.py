"""Runs of cells: life cycle, attempts, orders, leases and the queues of nodes."""

"""Runs of cells: life cycle, attempts, orders, leases and node queues."""

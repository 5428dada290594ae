"""Scheduler: starts waiting runs, takes leases, sends wake-ups and due work."""

"""The scheduler's work: start waiting runs, take leases, send wake-ups and due work."""

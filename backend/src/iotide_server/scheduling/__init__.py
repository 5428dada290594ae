"""Which waiting run starts where, its leases and its wake-ups."""

"""Templates: named plans to start campaigns from."""

"""Orders on this node: planning, runners and results."""

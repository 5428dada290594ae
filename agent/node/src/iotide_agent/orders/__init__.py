"""Orders on this node: runs are started, watched, parsed, and their results collected."""

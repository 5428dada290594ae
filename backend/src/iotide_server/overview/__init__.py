"""The overview page: status board and attention list."""

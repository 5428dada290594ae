"""What others measured and published, to lay one's own numbers beside: read-only clusters with their sources."""

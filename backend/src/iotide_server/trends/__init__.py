"""What became of series over time; here the work that follows a result."""

"""A history that was made up: clusters, campaigns and results with known changes, for demonstrations and benches."""

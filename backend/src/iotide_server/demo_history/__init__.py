"""The sample data: clusters, campaigns and results with known changes, for demonstrations and benches."""

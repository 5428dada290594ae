"""Sample data with known changes, for demonstrations and benches."""

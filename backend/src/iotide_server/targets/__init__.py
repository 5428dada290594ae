"""File systems under test."""

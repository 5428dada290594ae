"""Outliers among peers."""

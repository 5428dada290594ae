"""Comparison of campaigns, targets, clusters and options."""

"""Trends of series: points, changes, events, peers and comparisons."""

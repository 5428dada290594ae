"""Campaigns: plans are checked, expanded into runs, and run in stages and windows."""

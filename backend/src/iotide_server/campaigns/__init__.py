"""Campaigns: plans are checked, expanded into cells and runs, and run in stages and windows."""

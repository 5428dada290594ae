"""The table of all runs: searched, sorted and paged, with views that people keep."""

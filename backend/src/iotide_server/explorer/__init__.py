"""Table of all runs, with saved views."""

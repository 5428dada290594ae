"""Small load programs of our own, run as processes like any other tool."""

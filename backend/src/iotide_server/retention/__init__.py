"""How long raw output and per-second values are kept; numbers and points are kept for ever."""

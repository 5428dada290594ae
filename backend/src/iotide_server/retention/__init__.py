"""Retention: raw output and per-second values are removed by age; numbers and points are kept for ever."""

"""Retention of raw output and per-second values. Numbers and points are kept forever."""

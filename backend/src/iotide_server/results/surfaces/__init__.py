"""Surfaces: a metric over file size and record size."""

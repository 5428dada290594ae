"""Surfaces: one number over file size and record size."""

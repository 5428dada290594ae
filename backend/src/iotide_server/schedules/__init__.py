"""Schedules: plans that are submitted by a calendar."""

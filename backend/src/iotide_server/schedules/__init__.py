"""Schedules: plans that become campaigns by a calendar."""

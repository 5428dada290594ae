"""Forecast of a planned campaign: time, space and bytes written."""

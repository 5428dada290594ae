"""Forecast of a campaign: time, space and bytes written."""

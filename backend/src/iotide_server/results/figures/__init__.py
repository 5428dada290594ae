"""Figures of a campaign."""

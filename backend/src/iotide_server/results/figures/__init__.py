"""Figures of a campaign: numbers cell by cell, and how its runs were measured."""

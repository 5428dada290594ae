"""Endpoints for node agents: enrol, hello, claim, beat, artefacts, finish."""

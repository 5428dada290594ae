"""Ingest of results, samples, series and points, curves and artefacts."""

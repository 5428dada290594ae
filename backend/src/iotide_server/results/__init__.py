"""Results: ingest, surfaces, figures and forecasts; its tables include points, which `trends/points` computes."""

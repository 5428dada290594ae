"""API tokens: created, listed and revoked."""

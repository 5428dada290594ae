"""Shared code: database, errors, clock, pagination, queue, request limits."""

"""Enrolment: join tokens and pending nodes."""

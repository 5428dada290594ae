"""Enrolment: join tokens, and hosts that wait for approval."""

"""Users, roles, sessions, API tokens and the audit log."""

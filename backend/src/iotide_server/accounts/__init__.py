"""Who may do what: users, sessions, API tokens, audit."""

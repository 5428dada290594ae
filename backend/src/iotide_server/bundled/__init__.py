"""Private PostgreSQL and Redis, TLS and the supervision of the server's processes."""

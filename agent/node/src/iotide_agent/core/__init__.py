"""The supervisor: its loop, its pure protocol session, the HTTP client, the state on disk and the wake-up worker."""

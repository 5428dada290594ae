"""The agent process: its loop, protocol session, HTTP client, state on disk and wake-up worker."""

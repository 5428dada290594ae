"""Browser sessions, cookies, sign-in links, and attempt limits."""

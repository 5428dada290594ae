"""Browser sessions: signing in and out, cookies, one-time links, limits on wrong guesses."""

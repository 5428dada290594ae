"""News of changes, stored for an hour and streamed to browsers."""

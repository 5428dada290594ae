"""The change feed: changed rows, stored for an hour and streamed to browsers; also the health routes."""

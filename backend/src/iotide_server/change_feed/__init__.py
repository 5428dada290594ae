"""Change feed: changed rows, stored for an hour and streamed to browsers. Also health."""

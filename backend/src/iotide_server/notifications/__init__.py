"""Messages to people: where they go, when, and what became of them."""

"""What a whole run says of its own quality: the flags that need the node's counters and conditions, not one tool's."""

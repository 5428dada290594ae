"""Orders on this node: the supervisor plans runs, starts and watches their runners, and makes results."""

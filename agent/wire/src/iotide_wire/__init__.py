"""What server and agents say to each other: messages, the workload catalogue, units, facts and announced arithmetic."""

WIRE_VERSION = 1
"""Version of the messages; the server speaks this one and the one before."""

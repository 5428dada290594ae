"""Storm of faults over several agents, and a checker that uses only the loads' own log."""

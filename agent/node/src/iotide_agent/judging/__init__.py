"""Quality flags of a whole run, by the node's counters and conditions; a single tool's are in its workload."""

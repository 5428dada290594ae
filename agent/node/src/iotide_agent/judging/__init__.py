"""Quality flags of whole runs from the node's counters and conditions. A tool's own flags are in its workload."""

"""The status board: what is not as it was, by cluster and workload."""

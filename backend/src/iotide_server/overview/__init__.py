"""The overview page: the status board by cluster and workload, and what needs attention."""

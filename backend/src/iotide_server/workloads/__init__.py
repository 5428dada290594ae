"""The catalogue of workloads that agents announced; the workloads themselves are in the agent."""

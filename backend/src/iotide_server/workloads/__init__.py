"""Catalogue of workloads that agents announced; the agent has the workloads themselves."""

"""The workload plug-ins."""

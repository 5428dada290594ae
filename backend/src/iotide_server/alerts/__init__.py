"""Alerts: changes of level and series that stopped, from the first suspicion to the end of the matter."""

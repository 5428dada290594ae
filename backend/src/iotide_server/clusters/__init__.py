"""Clusters, nodes, their agents and enrolment."""

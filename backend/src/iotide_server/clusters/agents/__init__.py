"""Agents of nodes: credentials, heartbeats and what they announced."""

"""Agents of nodes: credentials, heartbeats and announcements."""

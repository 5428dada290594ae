"""This node: configuration, identity, credentials, inventory and readiness."""

"""This node: configuration, identity, inventory and readiness."""

"""Routes of node agents and gateways."""

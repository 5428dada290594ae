"""Sets the agent up as a service of this node: user, configuration, identity, systemd unit."""

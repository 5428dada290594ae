"""Sets the server up as a service of this machine: user, state directory, settings, systemd unit."""

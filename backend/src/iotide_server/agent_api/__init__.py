"""Routes for node agents and gateways: enrol, hello, claim, heartbeat, raw output, finish, batch jobs."""

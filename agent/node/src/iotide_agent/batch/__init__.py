"""Runs as jobs of a batch system: the gateway that submits them, and the agent inside such a job."""

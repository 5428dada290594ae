"""Runs as batch jobs: the gateway that submits them, and the agent inside a job."""

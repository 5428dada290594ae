"""Fixtures of the agent's tests."""

from agent.fixtures import *

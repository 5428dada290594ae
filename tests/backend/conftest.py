"""The fixtures of the server's tests."""

from backend.fixtures import *

"""The runner of one order: a process that needs only the standard library and outlives the agent that started it.

Agent and runner exchange files in the order's directory and wake each other with doorbells.
"""

from pathlib import Path
from typing import Final

GANG: Final = "--gang"
"""Argument of a runner whose card has a part in a gang."""
RUNNER: Final = Path(__file__).with_name("__main__.py")

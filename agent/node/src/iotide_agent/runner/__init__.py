"""The runner of one order: a process of its own on the standard library alone, which outlives the agent that began it.

It shares no memory with the supervisor: files in the order's directory carry what each tells the other, doorbells wake.
"""

from pathlib import Path
from typing import Final

RUNNER: Final = Path(__file__).with_name("__main__.py")
"""The program that a runner executes."""

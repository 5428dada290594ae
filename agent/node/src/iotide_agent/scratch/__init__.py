"""Scratch devices: disks that root gave to iotide for good, and the root program that makes file systems on them.

Standard library alone: `iotide-scratch` runs as root with `python -I -S`. docs/scratch.md has the guarantees.
"""

from pathlib import Path
from typing import Final

PROGRAM: Final = Path(__file__).with_name("__main__.py")
"""Entry point of `iotide-scratch`."""

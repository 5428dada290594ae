"""Inputs: choice bytes (options, step, mount, the tool's end), then texts with SEPARATOR between them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

SEPARATOR: Final = b"\x1e"
"""Between the texts of an input; no tool prints it."""
_ROOT: Final = Path(__file__).parents[2]


def encode(choices: Sequence[int], texts: Sequence[str]) -> bytes:
    """Return the input of these choices, each a byte, and texts."""
    return bytes(choices) + SEPARATOR.join(text.encode(errors="replace") for text in texts)


def decode(data: bytes, count: int) -> tuple[list[int], list[str]]:
    """Return the choices, `count` of them, and the texts of an input."""
    choices = [*data[:count], *bytes(max(0, count - len(data)))]
    return choices, [part.decode(errors="replace") for part in data[count:].split(SEPARATOR)]


def files(*patterns: str) -> Iterator[bytes]:
    """Return the contents of files below the checkout."""
    return (path.read_bytes() for pattern in patterns for path in sorted(_ROOT.glob(pattern)))

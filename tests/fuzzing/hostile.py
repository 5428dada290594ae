"""Inputs that are rarely random: nested too deep, numbers too long or invalid, lines without an end."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_MOST_SEEDS: Final = 24
_MOST_NUMBERS: Final = 12
_LARGEST_BYTES: Final = 16_384
_NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")
_INSTEAD: Final = (b"9" * 4400, b"1e999", b"-1", b"0", b"NaN", b"null", b"\xd9\xa3", b"[" * 3000, b"1" + b"0" * 310)
"""Numbers that are longer than Python reads, infinite, negative, missing, not ASCII, nested; one that is no float."""
_WHOLE: Final = (
    b"[" * 20_000,
    b'{"a":' * 10_000,
    b"- " * 5000,
    b"a: &a [*a]\n",
    b"\x00" * 100,
    b"\xff\xfe",
    b"\r" * 50,
)


def hostile(seeds: Iterable[bytes], choices: int) -> Iterator[bytes]:
    """Yield such inputs: whole ones after the choice bytes, and seeds with one number replaced."""
    yield from (bytes(choices) + text for text in _WHOLE)
    small = [seed for seed in seeds if len(seed) <= _LARGEST_BYTES]
    for seed in small[:: max(1, len(small) // _MOST_SEEDS)]:
        found = [match for match in _NUMBER.finditer(seed) if match.start() >= choices]
        for match in found[:: max(1, len(found) // _MOST_NUMBERS)]:
            for instead in _INSTEAD:
                yield seed[: match.start()] + instead + seed[match.end() :]

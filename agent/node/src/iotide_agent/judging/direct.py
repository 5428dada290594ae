"""Verifies O_DIRECT by what the runner saw, because tools, libraries and file systems may drop it silently."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_wire.units import KIB, MIB, format_bytes

_LEAST_LOOKS: Final = 2
"""A single look may find a descriptor that is just being opened or closed."""
_LIMIT_RATIO: Final = 0.05
_MOST_BYTES: Final = 16 * MIB
_LEAST_BYTES: Final = 64 * KIB
"""The end of a file that is no whole block goes through the cache in any case."""


def why_cached(tool: str, record: Mapping[str, Any]) -> str:
    """Return why a step with O_DIRECT counts as cached, by the runner's record of it; empty if it does not.

    Records of steps without O_DIRECT and of older runners have no observations.
    """
    cached_bytes, of_bytes = record.get("cached_bytes", 0), record.get("of_bytes", 0)
    grown_bytes = cached_bytes - record.get("cached_before_bytes", 0)
    limit_bytes = max(_LEAST_BYTES, min(_MOST_BYTES, int(of_bytes * _LIMIT_RATIO)))
    if grown_bytes >= limit_bytes:
        found = f"{format_bytes(grown_bytes)} of {format_bytes(of_bytes)} were in the page cache afterwards"
        return f"{record['name']}: {tool} did not use O_DIRECT: {found}"
    looks = record.get("buffered_looks", 0)
    if looks >= _LEAST_LOOKS and not record.get("direct_looks", 0):
        return f"{record['name']}: {tool} had its files open without O_DIRECT at each of {looks} looks"
    return ""

"""The one place where numbers with units are read and written: everything stored is in a base unit."""

import re
from enum import StrEnum
from typing import Final


class Unit(StrEnum):
    """Base units of stored values."""

    BYTES_PER_SECOND = "bytes_per_second"
    OPERATIONS_PER_SECOND = "operations_per_second"
    SECONDS = "seconds"
    BYTES = "bytes"
    COUNT = "count"
    RATIO = "ratio"


class UnitError(ValueError):
    """A number with a unit could not be read; the text says what would be accepted."""


_DECIMAL: Final = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_DECIMAL_STEPS: Final = tuple(1000**power for power in range(5))
_BYTE_FACTORS: Final[dict[str, int]] = (
    {"": 1, "b": 1}
    | {f"{prefix.lower()}b": factor for prefix, factor in _DECIMAL.items() if prefix not in {"", "B"}}
    | {f"{prefix.lower()}ib": 1024**power for power, prefix in enumerate("KMGTP", start=1)}
)
_TIME_FACTORS: Final = {
    "": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_RATE_FACTORS: Final[dict[str, int]] = (
    {"": 8}
    | {f"{prefix}B": 8 * factor for prefix, factor in zip(("", *"kMGT"), _DECIMAL_STEPS, strict=True)}
    | {f"{prefix}iB": 8 * 1024**power for power, prefix in enumerate("KMGT", start=1)}
    | {f"{prefix}bit": factor for prefix, factor in zip(("", *"kMGT"), _DECIMAL_STEPS, strict=True)}
)
"""In bits; the case counts, since Mb/s means bits to some and bytes to others."""
_NUMBER: Final = r"(?P<number>-?\d{1,30}(?:\.\d{1,30})?)"
_QUANTITY: Final = re.compile(rf"^\s*{_NUMBER}\s*(?P<unit>[A-Za-z]*)\s*$")
_RATE: Final = re.compile(rf"^\s*{_NUMBER}\s*(?:(?P<unit>[A-Za-z]+)/s)?\s*$")
_FOUR_DIGITS: Final = 999.5
_MEBIBYTE_HINT: Final = "write a whole number of bytes or one with KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000)"


def parse_bytes(text: str) -> int:
    """Bytes from text such as `4096`, `64 MiB` or `1.5GB`.

    IEC prefixes are powers of 1024 and SI prefixes powers of 1000. A bare `M` or `G` is refused, because dd means
    1024 by it and most other people 1000.

    Raises:
        UnitError: the text is no number with a known unit, or not a whole number of bytes.
    """
    match = _QUANTITY.match(text)
    factor = _BYTE_FACTORS.get(match["unit"].lower()) if match else None
    if match is None or factor is None:
        raise UnitError(f"{text!r} is not a size; {_MEBIBYTE_HINT}")
    size_bytes = _whole_product(match["number"], factor)
    if size_bytes is None:
        raise UnitError(f"{text!r} is not a whole number of bytes; {_MEBIBYTE_HINT}")
    return size_bytes


def parse_rate(text: str) -> int:
    """Bytes per second from text such as `4096 Mbit/s`, `1.5 GB/s` or `512000000`.

    Raises:
        UnitError: the text is no number with a known unit, or not a whole number of bytes per second.
    """
    match = _RATE.match(text)
    factor = _RATE_FACTORS.get(match["unit"] or "") if match else None
    rate_bytes_per_second = _whole_product(match["number"], factor, 8) if match and factor else None
    if rate_bytes_per_second is None:
        raise UnitError(
            f"{text!r} is not a whole number of bytes per second; write one, or a number with kbit/s, Mbit/s, Gbit/s, "
            "kB/s, MB/s, GB/s (1000) or KiB/s, MiB/s, GiB/s (1024)"
        )
    return rate_bytes_per_second


def parse_seconds(text: str) -> float:
    """Seconds from text such as `90`, `1.5 s`, `10 min` or `2h`.

    Raises:
        UnitError: the text is no number with a known unit.
    """
    match = _QUANTITY.match(text)
    factor = _TIME_FACTORS.get(match["unit"].lower()) if match else None
    if match is None or factor is None:
        raise UnitError(f"{text!r} is not a duration; write seconds or a number with ms, s, min, h or d")
    return float(match["number"]) * factor


def format_bytes(size_bytes: float) -> str:
    """A size for a person, in powers of 1024 with three significant digits: `64 MiB`."""
    return _scaled(size_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


def format_rate(rate_bytes_per_second: float) -> str:
    """A rate for a person, in powers of 1000 with three significant digits: `118 MB/s`."""
    return _scaled(rate_bytes_per_second, 1000, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"))


def format_value(value: float, unit: Unit) -> str:
    """A stored value for a person, in the unit that its size suggests."""
    match unit:
        case Unit.BYTES_PER_SECOND:
            return format_rate(value)
        case Unit.BYTES:
            return format_bytes(value)
        case Unit.SECONDS:
            return _format_seconds(value)
        case Unit.OPERATIONS_PER_SECOND:
            return f"{_three_digits(value)} op/s"
        case Unit.COUNT | Unit.RATIO:
            return f"{value:g}"


def _format_seconds(seconds: float) -> str:
    for factor, name in ((1e6, "us"), (1e3, "ms")):
        if 0 < abs(seconds) * factor < _FOUR_DIGITS:
            return f"{_three_digits(seconds * factor)} {name}"
    return f"{_three_digits(seconds)} s"


def _whole_product(digits: str, factor: int, divisor: int = 1) -> int | None:
    """`digits * factor / divisor` without the rounding of binary fractions; None where it is no whole number."""
    whole, _, fraction = digits.partition(".")
    scale: int = 10 ** len(fraction)
    product, remainder = divmod(int(whole + fraction) * factor, scale * divisor)
    return None if remainder else product


def _scaled(value: float, step: int, names: tuple[str, ...]) -> str:
    power = 0
    # What would be rounded up to a whole step is shown in the next unit: 1 MB/s rather than 1000 kB/s.
    while abs(value) >= step - 0.5 and power < len(names) - 1:
        value /= step
        power += 1
    return f"{_three_digits(value)} {names[power]}"


def _three_digits(value: float) -> str:
    """Three significant digits, or all digits before the point where there are more: `0.0125`, `1,250`."""
    return f"{value:,.0f}" if abs(value) >= _FOUR_DIGITS else f"{value:.3g}"

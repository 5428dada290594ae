"""Numbers with units. All stored values are in base units."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from typing import Final

KIB: Final = 1024
MIB: Final = 1024**2
GIB: Final = 1024**3
TIB: Final = 1024**4


class Unit(StrEnum):
    BYTES_PER_SECOND = "bytes_per_second"
    OPERATIONS_PER_SECOND = "operations_per_second"
    SECONDS = "seconds"
    BYTES = "bytes"
    COUNT = "count"
    RATIO = "ratio"


class UnitError(ValueError):
    """A number with a unit that cannot be read; the message says what would be accepted."""


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
    "hour": 3600.0,
    "hours": 3600.0,
    "d": 86400.0,
    "day": 86400.0,
    "days": 86400.0,
}
_RATE_FACTORS: Final[dict[str, int]] = (
    {"": 8}
    | {f"{prefix}B": 8 * factor for prefix, factor in zip(("", *"kMGT"), _DECIMAL_STEPS, strict=True)}
    | {f"{prefix}iB": 8 * 1024**power for power, prefix in enumerate("KMGT", start=1)}
    | {f"{prefix}bit": factor for prefix, factor in zip(("", *"kMGT"), _DECIMAL_STEPS, strict=True)}
)
"""Bits are case-sensitive: Mb/s is ambiguous between bits and bytes."""
_NUMBER: Final = r"(?P<number>-?\d{1,30}(?:\.\d{1,30})?)"
_PERCENT: Final = re.compile(rf"^\s*{_NUMBER}\s*%\s*$")
_QUANTITY: Final = re.compile(rf"^\s*{_NUMBER}\s*(?P<unit>[A-Za-z]*)\s*$")
_RATE: Final = re.compile(rf"^\s*{_NUMBER}\s*(?:(?P<unit>[A-Za-z]+)/s)?\s*$")
_FOUR_DIGITS: Final = 999.5
_TWO_DIGITS_AND_TENTH: Final = 99.95
_THREE_DIGITS: Final = Context(prec=3, rounding=ROUND_HALF_UP)
_ALL_DIGITS: Final = Context(prec=400, rounding=ROUND_HALF_UP)
"""Enough for the digits of any finite float before its point."""
_WHOLE: Final = Decimal(1)
_TENTH: Final = Decimal("0.1")
_FOUR_PLACES: Final = Decimal("0.0001")
_MINUS: Final = "\N{MINUS SIGN}"
_LEAST_P: Final = 0.0001
_MINUTE: Final = 60
_DURATIONS: Final = ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
"""Each unit with the smaller one after it."""
_MEBIBYTE_HINT: Final = "write a whole number of bytes or one with KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000)"


def parse_bytes(text: str) -> int:
    """Return bytes from a text such as `4096`, `64 MiB` or `1.5GB`; raise UnitError.

    A bare `M` or `G` is rejected: dd means powers of 1024 by it, most others powers of 1000.
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
    """Return bytes per second from a text such as `4096 Mbit/s`, `1.5 GB/s` or `512000000`; raise UnitError."""
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
    """Return seconds from a text such as `90`, `1.5 s`, `10 min` or `2h`; raise UnitError."""
    match = _QUANTITY.match(text)
    factor = _TIME_FACTORS.get(match["unit"].lower()) if match else None
    if match is None or factor is None:
        raise UnitError(f"{text!r} is not a duration; write seconds or a number with ms, s, min, h or d")
    return float(match["number"]) * factor


def parse_ratio(text: str) -> float:
    """Return the ratio of a percentage such as `3 %`; raise UnitError."""
    match = _PERCENT.match(text)
    if match is None:
        raise UnitError(f"{text!r} is not a percentage; write for instance 3 %")
    return float(Decimal(match["number"]) / 100)


def format_bytes(size_bytes: float) -> str:
    """Return a size with three significant digits: `64 MiB`."""
    return _scaled(size_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


def exact_bytes(size_bytes: float) -> str:
    """Return the shortest text for exactly this size, for options: `64 MiB`, `1 GB`, `1000001 B`."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB")
    size = int(size_bytes)
    exact = [(size // factor, unit) for unit in units if not size % (factor := _BYTE_FACTORS[unit.lower()])]
    number, unit = min(exact, key=lambda one: one[0])
    return f"{number} {unit}"


def exact_rate(rate_bytes_per_second: float) -> str:
    """Return a rate in whole Mbit/s, as usual for networks, otherwise in B/s."""
    megabits, rest = divmod(int(rate_bytes_per_second), 125_000)
    return f"{int(rate_bytes_per_second)} B/s" if rest else f"{megabits} Mbit/s"


def format_rate(rate_bytes_per_second: float) -> str:
    """Return a rate with three significant digits: `118 MB/s`."""
    return _scaled(rate_bytes_per_second, 1000, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"))


def format_value(value: float, unit: Unit) -> str:
    """Return a stored value in a suitable unit: `8.18 us`, `22.3 kop/s`, `5.67 %`.

    The browser shows the same (`lib/units.ts`); tests/data/units.json holds both to one table.
    """
    match unit:
        case Unit.BYTES_PER_SECOND:
            return format_rate(value)
        case Unit.BYTES:
            return format_bytes(value)
        case Unit.SECONDS:
            return format_seconds(value)
        case Unit.OPERATIONS_PER_SECOND:
            return _scaled(value, 1000, ("op/s", "kop/s", "Mop/s", "Gop/s"))
        case Unit.RATIO:
            return format_percent(value)
        case Unit.COUNT:
            return format_number(value)


def format_number(value: float) -> str:
    """Return three significant digits, or all digits before the point if there are more: `0.0125`, `1,250`."""
    if abs(value) >= _FOUR_DIGITS:
        return f"{_rounded(value, _WHOLE):,}"
    rounded = _THREE_DIGITS.create_decimal_from_float(float(value))
    return f"{rounded.normalize():f}" if rounded else "0"


def _rounded(value: float, step: Decimal) -> Decimal:
    number = Decimal(value)
    return number.quantize(step, context=_ALL_DIGITS) if number.is_finite() else number


def format_percent(ratio: float) -> str:
    return f"{format_number(ratio * 100)} %"


def format_shift(ratio: float) -> str:
    """Return the distance of a ratio from 1: `+12.0 %`, `+380 %`."""
    distance = format_distance(ratio)
    if not distance.strip("0. %"):
        return distance
    return f"{_MINUS if ratio < 1 else '+'}{distance}"


def format_distance(ratio: float) -> str:
    """Return the distance of a ratio from 1 without a sign: `12.0 %`."""
    percent = abs(ratio - 1) * 100
    step = _WHOLE if percent >= _TWO_DIGITS_AND_TENTH else _TENTH
    return f"{_rounded(percent, step):,} %"


def format_factor(factor: float) -> str:
    """Return a factor with three significant digits: `4.80`, `0.955`, `48.0`."""
    if abs(factor) >= _FOUR_DIGITS:
        return format_number(factor)
    rounded = _THREE_DIGITS.create_decimal_from_float(float(factor))
    if not rounded:
        return "0"
    return f"{rounded.quantize(Decimal(1).scaleb(rounded.adjusted() - 2)):f}"


def format_p(p_value: float) -> str:
    return "< 0.0001" if p_value < _LEAST_P else f"{_rounded(p_value, _FOUR_PLACES)}"


def format_duration(seconds: float) -> str:
    """Return a duration: `4.2 s`, `3 min 20 s`, `8 h 36 min`, `2 d 3 h`."""
    if seconds < _MINUTE:
        return format_value(seconds, Unit.SECONDS)
    whole = int(_rounded(seconds, _WHOLE))
    for factor, name, part, part_name in _DURATIONS:
        if whole >= factor:
            rest = whole % factor // part
            return f"{whole // factor} {name}" + (f" {rest} {part_name}" if rest else "")
    return format_value(seconds, Unit.SECONDS)


def format_estimate(seconds: float) -> str:
    """Return an estimated duration with two significant digits: `16 ms`, `22 s`, `17 min`, `2.3 h`, `3.1 d`."""
    for divisor, name, below in ((1e-3, "ms", 1.0), (1.0, "s", 90.0), (60.0, "min", 5400.0), (3600.0, "h", 172_800.0)):
        if seconds < below:
            return f"{_two_digits(seconds / divisor)} {name}"
    return f"{_two_digits(seconds / 86_400)} d"


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.1e}'):g}"


def format_seconds(seconds: float) -> str:
    """Return a duration in one unit, for limits and short times: `16 ms`, `90 s`, `20 min`."""
    for divisor, name in ((1e-6, "us"), (1e-3, "ms")):
        if 0 < abs(seconds) / divisor < _FOUR_DIGITS:
            return f"{format_number(seconds / divisor)} {name}"
    return format_duration(seconds) if seconds >= _FOUR_DIGITS else f"{format_number(seconds)} s"


def _whole_product(digits: str, factor: int, divisor: int = 1) -> int | None:
    """Return `digits * factor / divisor` without rounding; None if it is not a whole number."""
    whole, _, fraction = digits.partition(".")
    scale: int = 10 ** len(fraction)
    product, remainder = divmod(int(whole + fraction) * factor, scale * divisor)
    return None if remainder else product


def _scaled(value: float, step: int, names: tuple[str, ...]) -> str:
    power = 0
    # A value that rounds up to a whole step gets the next unit: 1 MB/s, not 1000 kB/s.
    while abs(value) / step**power >= step - 0.5 and power < len(names) - 1:
        power += 1
    return f"{format_number(value / step**power)} {names[power]}"

"""Only iotide_wire.units formats numbers as text: all other code calls its functions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "backend/src", *sorted(ROOT.glob("agent/*/src"))]
ROUNDS = re.compile(r"\.?\d*[eEfFgG%]$|\.\{")
"""A format that rounds; dates, columns, grouped and padded whole numbers do not."""

ALLOWED = {
    "iotide_wire/units.py": "the one place",
    "iotide_agent/loads/create_files.py": "a line that a program reads; starts without iotide's packages",
    "iotide_agent/loads/stream_receive.py": "a limit as it was given; starts without iotide's packages",
    "iotide_agent/loads/stream_send.py": "a limit as it was given; starts without iotide's packages",
    **dict.fromkeys(
        (
            *(f"iotide_agent/runner/{name}.py" for name in ("groups", "hand", "life")),
            *(f"iotide_agent/mpi/{name}.py" for name in ("channel", "head", "meeting", "member")),
        ),
        "limits as they were given, in whole seconds; the runner only uses the standard library",
    ),
    "iotide_agent/runner/load.py": "a moment that a program reads",
    "iotide_agent/workloads/stream.py": "an argument of a command",
    "iotide_server/results/forecast/service.py": "rounds a number and shows none",
}


def rounded_places(code: str) -> Iterator[int]:
    """Return the lines of f-strings and of calls of `format` with a specification that rounds a number."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(
                str(part.value) if isinstance(part, ast.Constant) else ".{" for part in node.format_spec.values
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format":
            spec = str(node.args[1].value) if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else ""
        else:
            continue
        if ROUNDS.search(spec) and not spec.startswith("%"):
            yield node.lineno


def files() -> Iterator[tuple[str, Path]]:
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            yield path.relative_to(source).as_posix(), path


def test_no_sentence_rounds_numbers_on_its_own() -> None:
    found = [
        f"{name}:{line}"
        for name, path in files()
        if name not in ALLOWED
        for line in rounded_places(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"use iotide_wire.units (format_value, format_seconds, format_percent, ...): {found}"


@pytest.mark.parametrize("name", ALLOWED)
def test_each_exception_is_still_needed(name: str) -> None:
    (path,) = (path for known, path in files() if known == name)
    assert list(rounded_places(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("shown", ["{x:.1f}", "{x:.0%}", "{x:g}", "{x:,.2f}", "{x:+.{digits}f}", "{x:>8.3g}"])
def test_a_number_that_is_rounded_is_found(shown: str) -> None:
    assert list(rounded_places(f"f'{shown}'")) == [1]


@pytest.mark.parametrize("shown", ["{x}", "{x:,}", "{x:08d}", "{x:>12}", "{x:%Y-%m-%d}", "{x:%H:%M}", "{x:04o}"])
def test_dates_columns_and_whole_numbers_are_left(shown: str) -> None:
    assert not list(rounded_places(f"f'{shown}'"))

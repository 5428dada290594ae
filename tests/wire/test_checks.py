"""The list of checks, and the page that documents it."""

from pathlib import Path

from iotide_wire.checks import CHECKS, as_table
from iotide_wire.measured import Check

DOCUMENT = Path(__file__).parents[2] / "docs/checks.md"


def test_each_check_is_in_the_list() -> None:
    assert set(CHECKS) == set(Check)


def test_the_page_has_the_current_list() -> None:
    assert as_table() in DOCUMENT.read_text()

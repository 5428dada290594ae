"""Check that each test named in docs/security.md exists, and that it names the tests of each finding."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
LISTED: Final = re.findall(r"\| `([^`:]+)::([^`]+)` \|$", (ROOT / "docs/security.md").read_text(), re.MULTILINE)

FINDINGS: Final = [file for home in ("attacks", "chaos") for file in (ROOT / "tests" / home).rglob("test_finding_*.py")]
"""Tests of the security review's findings; a suspected finding that it did not try is number 14."""


def collected_in(file: Path) -> set[str]:
    """Return what pytest, Playwright or Vitest collects there."""
    text = file.read_text()
    if file.suffix == ".ts":
        return set(re.findall(r'\b(?:test|it)\("([^"]+)"', text)) | set(
            re.findall(r'^\]\)\("([^"]+)"', text, re.MULTILINE)
        )
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_attacks_are_listed() -> None:
    assert len(LISTED) > 30


@pytest.mark.parametrize(("path", "name"), LISTED)
def test_the_test_of_an_attack_is_there(path: str, name: str) -> None:
    file = ROOT / path
    assert file.name.startswith("test_") or file.suffix == ".ts"
    assert name in collected_in(file)


def test_each_finding_has_tests_and_all_of_their_files_are_listed() -> None:
    assert {int(file.name.split("_")[2]) for file in FINDINGS} == set(range(1, 15))
    assert {str(file.relative_to(ROOT)) for file in FINDINGS} <= {path for path, _ in LISTED}

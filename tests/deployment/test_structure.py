"""The rules of ARCHITECTURE.md that no linter knows."""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = {"server": "backend/src", "agent": "agent/node/src", "wire": "agent/wire/src"}


def classes(source: Path) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("part", PARTS)
def test_no_two_classes_of_a_part_have_one_name(part: str) -> None:
    names = Counter(name for source in (ROOT / PARTS[part]).rglob("*.py") for name in classes(source))
    assert [name for name, number in names.items() if number > 1] == []


def test_the_agents_root_has_at_most_twelve_modules() -> None:
    assert len(list((ROOT / PARTS["agent"] / "iotide_agent").glob("*.py"))) <= 12

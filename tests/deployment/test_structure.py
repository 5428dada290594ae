"""Rules of ARCHITECTURE.md that no linter checks."""

import ast
import sys
from collections import Counter
from pathlib import Path
from subprocess import run

import pytest

ROOT = Path(__file__).parents[2]
PARTS = {"server": "backend/src", "agent": "agent/node/src", "wire": "agent/wire/src"}


def classes(source: Path) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("part", PARTS)
def test_no_two_classes_of_a_part_have_one_name(part: str) -> None:
    names = Counter(name for source in (ROOT / PARTS[part]).rglob("*.py") for name in classes(source))
    assert [name for name, number in names.items() if number > 1] == []


def statements(source: Path) -> list[str]:
    """Return the constructors of SQL statements that a module imports."""
    imports = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.ImportFrom)]
    names = [name.name for node in imports if str(node.module).startswith("sqlalchemy") for name in node.names]
    return [name for name in names if name in {"text", "select", "insert", "update", "delete", "func", "exists"}]


def is_without_sql(source: Path) -> bool:
    """Return whether a module must not contain SQL: it decides, words or serves."""
    first = source.read_text().partition("\n")[0]
    named = source.stem in {"service", "routes", "errors"} or source.stem.endswith("schemas")
    return named or source.parent.name == "statistics" or first.endswith('; pure."""')


def test_services_routes_schemas_and_pure_modules_hold_no_sql() -> None:
    sources = [source for source in (ROOT / PARTS["server"]).rglob("*.py") if is_without_sql(source)]
    assert len(sources) > 100
    assert {str(source): statements(source) for source in sources if statements(source)} == {}


def test_the_agents_root_has_at_most_twelve_modules() -> None:
    assert len(list((ROOT / PARTS["agent"] / "iotide_agent").glob("*.py"))) <= 12


_RESOLVED = """
import sys
from importlib import import_module
from sqlalchemy.orm import configure_mappers
from iotide_server.kit.db import Base
import_module(sys.argv[1])
configure_mappers()
print(len(Base.metadata.sorted_tables))
"""


@pytest.mark.parametrize("program", ["main", "worker", "scheduler", "commands.backups"])
def test_each_server_process_loads_the_tables_that_its_own_refer_to(program: str) -> None:
    """A process without them fails at its first insert, not at its start."""
    argv = [sys.executable, "-c", _RESOLVED, f"iotide_server.{program}"]
    assert int(run(argv, check=True, capture_output=True, text=True).stdout) > 20

import subprocess
import sys

import pytest

from iotide_server.commands.program import COMMANDS

PARTS = {"iotide_server.main", "iotide_server.scheduler", "iotide_server.worker"}
LIBRARIES = {"sqlalchemy", "psycopg", "fastapi", "celery", "numpy", "pydantic"}


def loaded_by(*commands: str) -> set[str]:
    """Return the modules that a Python loads for the program with these commands."""
    asked = (
        f"import sys, iotide_server.commands.program as program; program.program_of({commands}); print(*sys.modules)"
    )
    return set(subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split())


def test_the_command_line_loads_neither_routes_nor_scheduler_nor_worker_until_they_are_served() -> None:
    loaded = loaded_by(*COMMANDS)
    assert "iotide_server.commands.services" in loaded
    assert PARTS & loaded == set()


@pytest.mark.parametrize(
    ("command", "needed"),
    [("setup", set()), ("up", {"sqlalchemy", "psycopg"}), ("scheduler", {"sqlalchemy", "psycopg", "pydantic"})],
)
def test_a_command_loads_only_the_libraries_that_it_needs(command: str, needed: set[str]) -> None:
    assert loaded_by(command) & LIBRARIES == needed

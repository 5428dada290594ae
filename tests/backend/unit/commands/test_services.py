import subprocess
import sys

import pytest

from iotide_server.commands.program import _COMMANDS


def loaded_for(command: str) -> set[str]:
    """Return the modules of the command line when this command is called; "": none that it knows."""
    asked = f"import sys; from iotide_server.commands.program import program; program({command!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_loads_neither_routes_nor_scheduler_nor_worker_until_they_are_served() -> None:
    parts = {"iotide_server.main", "iotide_server.scheduler", "iotide_server.worker"}
    loaded = loaded_for("")
    assert {f"iotide_server.{module}" for module in _COMMANDS} <= loaded
    assert parts & loaded == set()


@pytest.mark.parametrize("command", ["up", "admin-link", "restore", "retention"])
def test_a_called_command_loads_the_module_of_no_other(command: str) -> None:
    (own,) = (module for module, names in _COMMANDS.items() if command.replace("-", "_") in names)
    others = {f"iotide_server.{module}" for module in _COMMANDS if module != own}
    assert others & loaded_for(command) == set()

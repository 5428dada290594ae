import subprocess
import sys


def test_the_command_line_loads_neither_routes_nor_scheduler_nor_worker_until_they_are_served() -> None:
    asked = "import sys, iotide_server.commands.program; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    parts = {"iotide_server.main", "iotide_server.scheduler", "iotide_server.worker"}
    assert "iotide_server.commands.program" in loaded
    assert parts & set(loaded) == set()

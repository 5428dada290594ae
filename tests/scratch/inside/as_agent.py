"""Requests as the agent makes them: its load program, as its user."""

import json
import subprocess
from pathlib import Path
from typing import Any

from iotide_agent.loads import scratch_set
from iotide_agent.scratch.site import OWNER


def as_agent(socket: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Have the load program perform requests as the agent's user, and return the records that it printed."""
    command = ("runuser", "-u", OWNER, "--", "python3", "-I", "-S", str(scratch_set.__file__), str(socket))
    ended = subprocess.run((*command, json.dumps(requests)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]

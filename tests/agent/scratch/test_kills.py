"""A worker killed at any line of its journal leaves nothing that one recovery does not remove."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

TESTS: Final = Path(__file__).parents[2]
PROGRAM: Final = Path(__file__).with_name("killed_program.py")
MAKES: Final[tuple[dict[str, Any], ...]] = (
    {"layout": {"kind": "single"}, "fs": {"type": "ext4"}},
    {"layout": {"kind": "btrfs", "disks": 2, "profile": "raid1"}, "fs": {"type": "btrfs"}},
)
LEAST_LINES: Final = 15

pytestmark = pytest.mark.timeout(600)  # some 70 kills, each with a recovery


@pytest.mark.parametrize("making", MAKES, ids=lambda making: str(making["fs"]["type"]))
def test_a_kill_at_each_line_leaves_nothing_after_one_recovery(tmp_path: Path, making: dict[str, Any]) -> None:
    command = (sys.executable, str(PROGRAM), str(tmp_path), json.dumps(making))
    environment = {"PYTHONPATH": str(TESTS), "PATH": "/usr/bin"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(ended.stdout)
    assert len(rows) > LEAST_LINES
    assert [row for row in rows if row["left"] or row["reason"]] == []

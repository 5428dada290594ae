"""The README installs by name, in few lines, and `./dev test-first-hour` finds its commands."""

import re
from pathlib import Path
from typing import Final

from first_hour.walk import MOST_COMMANDS
from first_hour.ways import _block

README: Final = Path(__file__).resolve().parents[2] / "README.md"
HEADINGS: Final = ("### The server", "### Each node", "## A campaign, from YAML to answer")
MOST_LINES: Final = 25


def commands() -> list[str]:
    return [line for heading in HEADINGS for line in _block(README, heading)]


def test_the_section_install_is_short() -> None:
    section = README.read_text().partition("\n## Install\n")[2].partition("\n## ")[0]
    assert 10 < len(section.splitlines()) < MOST_LINES


def test_a_first_trend_needs_few_commands_and_no_tool_of_developers() -> None:
    assert 5 < len(commands()) <= MOST_COMMANDS
    assert [line for line in commands() if re.search(r"\b(?:git|npm|node|nodejs|uv)\b", line)] == []


def test_the_line_for_a_node_verifies_the_script_before_it_runs_it() -> None:
    (line,) = [line for line in commands() if "join.sh" in line]
    fetch, verify, run = line.split(" && ")
    assert fetch.startswith("curl ")
    assert verify == "echo 'SHA256  join.sh' | sha256sum -c"
    assert run.startswith("echo TOKEN | sh join.sh https://SERVER:8470 /")

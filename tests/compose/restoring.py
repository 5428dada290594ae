"""Backup and restore in containers, with the exact lines of docs/backup.md: on the same installation and on a new
host.
"""

import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from compose.campaigns import INSIDE, WORKLOADS, Campaigns
from compose.outside import NODE
from compose.stack import ROOT, Api, Stack

_SECTION: Final = "## In docker compose\n"
_EXAMPLE: Final = "iotide-20261125T024000Z.tar"


def documented() -> list[list[str]]:
    """Return the blocks of lines in the section, without their comments: to back up, to restore, on a new host."""
    section = (ROOT / "docs/backup.md").read_text().partition(_SECTION)[2].partition("\n## ")[0]
    blocks = re.findall(r"(?m)(?:^    .*\n)+", section)
    return [[line.partition(" #")[0].strip() for line in block.splitlines()] for block in blocks]


def restore_twice(stack: Stack, api: Api, campaigns: Campaigns) -> tuple[float, float]:
    """Back up, continue the service, and restore; then lose everything and restore. Return how long each took.

    Raises:
        SystemExit: something is missing afterwards, or does not work.
    """
    take, again, on_a_new_host = documented()
    with tempfile.TemporaryDirectory(prefix="iotide-kept-") as kept:
        before = campaigns.samples()
        _type(stack, take, Path(kept), {})
        (backup,) = stack.compose("exec", "-T", "scheduler", "ls", "/backup").split()
        campaigns.run(NODE, WORKLOADS[:1], repeats=1)
        began_at = time.monotonic()
        _type(stack, again, Path(kept), {_EXAMPLE: backup})
        same_seconds = time.monotonic() - began_at
        _go_on(stack, api, campaigns, before)
        campaigns.run(INSIDE, WORKLOADS[:1], repeats=1)
        stack.compose("down", "--volumes", "--timeout", "20")
        began_at = time.monotonic()
        _type(stack, on_a_new_host[:-2], Path(kept), {_EXAMPLE: backup})
        new_seconds = time.monotonic() - began_at
        _go_on(stack, api, campaigns, before)
        token = api.call("POST", f"/nodes/{_node_id(api)}/join-token", {"expires_in_seconds": 600})["token"]
        _type(stack, on_a_new_host[-2:], Path(kept), {"TOKEN": token})
        campaigns.run(INSIDE, WORKLOADS[:1], repeats=1)
    return same_seconds, new_seconds


def _type(stack: Stack, lines: Sequence[str], directory: Path, words: Mapping[str, str]) -> None:
    for line in lines:
        for example, word in words.items():
            line = line.replace(example, word)  # noqa: PLW2901 - the line as it is typed
        stack.type(line, directory)


def _go_on(stack: Stack, api: Api, campaigns: Campaigns, before: Sequence[tuple[int, int, float]]) -> None:
    """Check that the whole backup is back, and that nodes work after a new sign-in and resuming the cluster."""
    api.sign_in(stack.admin_link())
    after = campaigns.samples()
    if after != before:
        raise SystemExit(f"{len(before)} samples were in the backup, {len(after)} are there")
    for drain in api.call("GET", "/drains"):
        api.call("DELETE", f"/clusters/{drain['cluster_id']}/drain")
    campaigns.run(NODE, WORKLOADS[:1], repeats=1)


def _node_id(api: Api) -> int:
    nodes = api.call("GET", "/nodes")["items"]
    return next(int(node["id"]) for node in nodes if node["name"] == INSIDE)

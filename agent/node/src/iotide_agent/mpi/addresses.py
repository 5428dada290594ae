"""Addresses of the members with their tokens, in a file that only the agent's user can read."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.files import read_json, replace_file

_NAME: Final = "members.json"


class MemberAddress(NamedTuple):
    """Address of a member; `address` is also its name for the launcher, and `token` its own for this attempt."""

    node: str
    address: str
    port: int
    token: str


def write_members(directory: Path, members: Iterable[MemberAddress]) -> None:
    """Write them for the head's runner, before its start signal."""
    replace_file(directory / _NAME, json.dumps([*members]), durable=False)


def read_members(directory: Path) -> tuple[MemberAddress, ...]:
    """Return the members in the order of their ranks; none without a file."""
    return tuple(MemberAddress(*values) for values in read_json(directory / _NAME) or ())

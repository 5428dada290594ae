"""Workloads as real agents announced them once, for clusters in which no agent will ever announce any."""

import json
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from iotide_wire.catalogue import WorkloadAnnouncement


def recorded_announcements(names: Collection[str]) -> tuple[WorkloadAnnouncement, ...]:
    """Those of these names: the catalogue learns nothing from them that it would not learn from an agent."""
    recorded: list[Any] = json.loads(files(__package__).joinpath("recorded.json").read_text())
    return tuple(WorkloadAnnouncement.model_validate(one) for one in recorded if one["name"] in names)

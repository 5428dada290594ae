from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.runs.explanation import (
    ClosedWindow,
    Drained,
    Maintenance,
    NeededResource,
    Wait,
    waiting_because,
)
from iotide_server.runs.resources import Mode, Occupancy, ResourceKind

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
NODE = NeededResource(ResourceKind.NODE, "n1", Mode.EXCLUSIVE, Occupancy(0, 0, slots=1), seen_at=NOW)
TARGET = NeededResource(ResourceKind.TARGET, "nfs", Mode.SHARED, Occupancy(0, 0))


@pytest.mark.parametrize(
    ("wanted", "because"),
    [
        (NODE, "About to start"),
        (replace(NODE, is_retired=True), "Node n1 was retired"),
        (replace(NODE, problem="no answer to 6 offers"), "Node n1: no answer to 6 offers"),
        (replace(NODE, seen_at=None), "Node n1 has never contacted the server; start its agent"),
        (
            replace(NODE, seen_at=NOW - timedelta(minutes=1)),
            "Node n1 has been silent since 2026-11-21 09:59:00 UTC",
        ),
        (
            replace(NODE, occupancy=Occupancy(0, 1, slots=1), holders=[7]),
            "Waiting for node n1 (run 7, exclusive)",
        ),
        (
            replace(NODE, mode=Mode.SHARED, occupancy=Occupancy(2, 0, slots=2), holders=[7, 8]),
            "Waiting for a free slot of node n1 (runs 7, 8)",
        ),
        (
            replace(TARGET, occupancy=Occupancy(4, 0), mode=Mode.EXCLUSIVE, holders=[1, 2, 3, 4]),
            "Waiting for exclusive use of target nfs (runs 1, 2, 3 and more)",
        ),
        (replace(TARGET, occupancy=Occupancy(4, 0), holders=[1, 2, 3, 4]), "About to start"),
    ],
)
def test_a_blocking_resource_is_named(wanted: NeededResource, because: str) -> None:
    assert waiting_because(Wait([wanted], [], None, None, 0), NOW) == because


def test_every_reason_is_given() -> None:
    silent = replace(NODE, seen_at=None)
    unmounted = "target nfs on node n1: nothing is mounted there"
    wait = Wait([silent, TARGET], [unmounted], NOW + timedelta(seconds=40), "no space left", 3)
    assert waiting_because(wait, NOW) == (
        "Next attempt not before 2026-11-21 10:00:40 UTC (last attempt: no space left);"
        " node n1 has never contacted the server; start its agent; target nfs on node n1: nothing is mounted there;"
        " 3 runs ahead"
    )


@pytest.mark.parametrize(
    ("drained", "because"),
    [
        (
            Drained("node n1", "ada", "its disk is replaced", None),
            "Node n1 is drained by ada until it is resumed: its disk is replaced",
        ),
        (
            Drained("everything", "ada", "the cooling fails", NOW + timedelta(hours=1)),
            "Everything is drained by ada until 2026-11-21 11:00:00 UTC: the cooling fails",
        ),
    ],
)
def test_a_drain_is_named_with_reason_user_and_end(drained: Drained, because: str) -> None:
    assert waiting_because(Wait([NODE], [], None, None, 0, drained=[drained]), NOW) == because


def test_a_pause_that_is_over_is_no_reason() -> None:
    assert waiting_because(Wait([NODE], [], NOW, "no space left", 0), NOW) == "About to start"


def test_a_closed_window_shows_when_it_opens() -> None:
    closed = ClosedWindow("22:00 to 05:00 Europe/Zurich", NOW + timedelta(hours=11))
    assert waiting_because(Wait([NODE], [], None, None, 0, window=closed), NOW) == (
        "The campaign's window (22:00 to 05:00 Europe/Zurich) opens at 2026-11-21 21:00:00 UTC"
    )


def test_a_maintenance_window_shows_until_when_nothing_starts() -> None:
    soon = Maintenance(NOW + timedelta(hours=1), NOW + timedelta(hours=8), "new firmware")
    assert waiting_because(Wait([NODE], [], None, None, 0, maintenance=soon), NOW) == (
        "Its time limit reaches into the maintenance window from 2026-11-21 11:00:00 UTC to 2026-11-21 18:00:00 UTC:"
        " new firmware"
    )
    now = replace(soon, starts_at=NOW)
    assert waiting_because(Wait([NODE], [], None, None, 0, maintenance=now), NOW) == (
        "The cluster is in maintenance until 2026-11-21 18:00:00 UTC: new firmware"
    )

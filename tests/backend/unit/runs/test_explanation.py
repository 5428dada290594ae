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
        (NODE, "it is about to start"),
        (replace(NODE, is_retired=True), "node n1 was retired"),
        (replace(NODE, problem="no answer to 6 offers"), "node n1: no answer to 6 offers"),
        (replace(NODE, seen_at=None), "node n1 has never been heard of; start its agent"),
        (
            replace(NODE, seen_at=NOW - timedelta(minutes=1)),
            "node n1 has been silent since 2026-11-21 09:59:00 UTC",
        ),
        (
            replace(NODE, occupancy=Occupancy(0, 1, slots=1), holders=[7]),
            "node n1 is taken by run 7 and it wants to be alone there",
        ),
        (
            replace(NODE, mode=Mode.SHARED, occupancy=Occupancy(2, 0, slots=2), holders=[7, 8]),
            "node n1 is taken by runs 7, 8",
        ),
        (
            replace(TARGET, occupancy=Occupancy(4, 0), mode=Mode.EXCLUSIVE, holders=[1, 2, 3, 4]),
            "target nfs is taken by runs 1, 2, 3 and more and it wants to be alone there",
        ),
        (replace(TARGET, occupancy=Occupancy(4, 0), holders=[1, 2, 3, 4]), "it is about to start"),
    ],
)
def test_what_stands_in_the_way_is_named(wanted: NeededResource, because: str) -> None:
    assert waiting_because(Wait([wanted], [], None, None, 0), NOW) == because


def test_every_reason_is_given() -> None:
    silent = replace(NODE, seen_at=None)
    unmounted = "target nfs on node n1: nothing is mounted there"
    wait = Wait([silent, TARGET], [unmounted], NOW + timedelta(seconds=40), "no space left", 3)
    assert waiting_because(wait, NOW) == (
        "it is not tried again before 2026-11-21 10:00:40 UTC after: no space left;"
        " node n1 has never been heard of; start its agent; target nfs on node n1: nothing is mounted there;"
        " 3 runs stand before it"
    )


@pytest.mark.parametrize(
    ("drained", "because"),
    [
        (
            Drained("node n1", "ada", "its disk is replaced", None),
            "node n1 is drained by ada until it is resumed: its disk is replaced",
        ),
        (
            Drained("everything", "ada", "the cooling fails", NOW + timedelta(hours=1)),
            "everything is drained by ada until 2026-11-21 11:00:00 UTC: the cooling fails",
        ),
    ],
)
def test_what_is_drained_is_named_with_reason_who_and_until_when(drained: Drained, because: str) -> None:
    assert waiting_because(Wait([NODE], [], None, None, 0, drained=[drained]), NOW) == because


def test_a_pause_that_is_over_is_no_reason() -> None:
    assert waiting_because(Wait([NODE], [], NOW, "no space left", 0), NOW) == "it is about to start"


def test_a_closed_window_says_when_it_opens() -> None:
    closed = ClosedWindow("22:00 to 05:00 Europe/Zurich", NOW + timedelta(hours=11))
    assert waiting_because(Wait([NODE], [], None, None, 0, window=closed), NOW) == (
        "its window, 22:00 to 05:00 Europe/Zurich, opens at 2026-11-21 21:00:00 UTC"
    )


def test_a_maintenance_says_until_when_nothing_starts() -> None:
    soon = Maintenance(NOW + timedelta(hours=1), NOW + timedelta(hours=8), "new firmware")
    assert waiting_because(Wait([NODE], [], None, None, 0, maintenance=soon), NOW) == (
        "by its time limit it could not end before the cluster's maintenance from 2026-11-21 11:00:00 UTC to"
        " 2026-11-21 18:00:00 UTC: new firmware"
    )
    now = replace(soon, starts_at=NOW)
    assert waiting_because(Wait([NODE], [], None, None, 0, maintenance=now), NOW) == (
        "the cluster is in maintenance until 2026-11-21 18:00:00 UTC: new firmware"
    )

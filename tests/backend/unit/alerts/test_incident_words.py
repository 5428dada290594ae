"""An incident in one line, and events in few words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from iotide_server.alerts.incidents.causes import short_event
from iotide_server.alerts.incidents.words import IncidentFacts, incident_words

AT = datetime(2026, 8, 11, tzinfo=UTC)
FACTS: dict[str, Any] = {
    "kind": "change",
    "at": AT,
    "ended_at": None,
    "worst_ratio": -0.181,
    "series_count": 1,
    "is_over": False,
    "is_withdrawn": False,
    "event": None,
    "title": "Throughput",
    "targets": {"scratch"},
    "workloads": {"dd"},
    "operations": {"write"},
}


@pytest.mark.parametrize(
    ("differing", "words"),
    [
        ({}, "scratch: dd write throughput \u221218.1 % since 11 Aug 2026"),
        (
            {
                "ended_at": datetime(2026, 9, 20, tzinfo=UTC),
                "series_count": 4,
                "title": None,
                "operations": {"write", "read"},
                "event": "OST0007 and OST0013 taken out of service",
            },
            (
                "scratch: dd read and write up to \u221218.1 % from 11 Aug to 20 Sep 2026,"
                " OST0007 and OST0013 taken out of service, recovered, 4 series"
            ),
        ),
        (
            {"kind": "missing", "worst_ratio": None, "targets": {"a", "b", "c"}, "operations": set(), "title": None},
            "3 targets: dd without data since 11 Aug 2026",
        ),
        ({"worst_ratio": None}, "scratch: dd write throughput no longer 0 since 11 Aug 2026"),
        ({"is_withdrawn": True, "worst_ratio": None}, "scratch: dd change withdrawn since 11 Aug 2026"),
    ],
)
def test_a_line_names_place_size_time_cause_and_end(differing: dict[str, Any], words: str) -> None:
    assert incident_words(IncidentFacts(**(FACTS | differing))) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("RAID set 2 rebuilt", "RAID set 2 rebuilt"),
        (
            "kernel: 5.14.0-362.8.1.el9_3.x86_64 -> 5.14.0-427.13.1.el9_4.x86_64",
            "kernel: 5.14.0-362.8.1.el9_3 -> 5.14.0-427.13.1.el9_4",
        ),
        (
            "mount_options: rw,relatime,rsize=1048576,hard -> rw,relatime,rsize=262144,hard",
            "mount_options: rsize=1048576 -> rsize=262144",
        ),
        ("options: rw,sync -> rw", "options: sync -> absent"),
        ("a: 1 -> 2; b: 1 -> 2; c: 1 -> 2", "a: 1 -> 2; b: 1 -> 2; and 1 more"),
    ],
)
def test_an_event_shows_only_what_differs(text: str, shown: str) -> None:
    assert short_event(text) == shown

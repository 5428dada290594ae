from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.overview.causes import MOST_CHARACTERS, nearest_cause, shortened

AT = datetime(2026, 9, 7, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Happened:
    kind: str
    since: datetime
    at: datetime
    text: str


@pytest.mark.parametrize(
    ("differences", "short"),
    [
        (
            "kernel.release: 5.14.0-362.8.1.el9_3.x86_64 -> 5.14.0-427.13.1.el9_4.x86_64; os.name: A -> B",
            "kernel 5.14.0-427",
        ),
        ("kernel.release: 6.1.0-30.1 -> 6.1.0-30.2", "kernel 6.1.0-30.2"),
        (
            "mount.options: hard,rsize=1048576,rw -> hard,rsize=262144,rw; nfs.rsize_bytes: 1048576 -> 262144",
            "mount rsize=262144",
        ),
        ("mount.options: noatime,rw -> rw", "mount without noatime"),
        ("lustre.version: 2.15.4 -> 2.15.5", "lustre 2.15.5"),
        ("md.degraded_count: 0 -> 1", "md degraded count 1"),
        ("a text of an earlier release", "a text of an earlier release"),
    ],
)
def test_an_environment_change_is_shortened_to_what_differs(differences: str, short: str) -> None:
    assert shortened(differences) == short


def test_the_event_nearest_to_the_change_is_its_cause_and_that_of_a_user_comes_first() -> None:
    far = Happened("manual", AT - 5 * DAY, AT - 5 * DAY, "disk replaced")
    seen = Happened("environment", AT - DAY, AT, "lustre.version: 2.15.4 -> 2.15.5")
    assert nearest_cause([far, seen], AT - DAY, AT) == "lustre 2.15.5"
    added = Happened("manual", AT - DAY / 2, AT - DAY / 2, "OST0007 out of service")
    assert nearest_cause([far, seen, added], AT - DAY, AT) == "OST0007 out of service"
    assert nearest_cause([], AT - DAY, AT) is None


def test_a_long_cause_is_cut() -> None:
    cause = nearest_cause([Happened("manual", AT, AT, "x" * 200)], AT - DAY, AT)
    assert cause is not None
    assert (len(cause), cause[-1]) == (MOST_CHARACTERS, "…")

"""Time of makes by what earlier makes and fills showed about the disks."""

from typing import Any

import pytest

from iotide_server.campaigns.scratch.estimate import fixed_seconds
from iotide_server.campaigns.scratch.expansion import MadeStage, expand
from iotide_server.campaigns.scratch.pace import KnownDisks, PastWork, known_disks
from iotide_wire.scratch_plan import ScratchPlan

DISK_BYTES = 3 * 10**12
INODE_RATIO = 256 / 16_384


def plan(layout: str, filesystem: str = "xfs", **changes: Any) -> ScratchPlan:  # noqa: ANN401 - any field
    own = {"node": "storage01", "set": "bays", "layouts": [layout], "filesystems": [filesystem], "rounds": 1}
    return ScratchPlan.model_validate(own | changes)


def stage(wanted: ScratchPlan) -> MadeStage:
    (found,) = expand(wanted).stages
    return found


def made(seconds: float, layout: str, filesystem: str = "xfs", **changes: Any) -> PastWork:  # noqa: ANN401 - any field
    make = stage(plan(layout, filesystem, **changes)).make
    return PastWork(make, fixed_seconds(make) + seconds)


def filled(filled_bytes: float, seconds: float, layout: str) -> PastWork:
    return PastWork(stage(plan(layout)).make, seconds, filled_bytes)


def seconds_of(known: KnownDisks, wanted: ScratchPlan) -> float | None:
    return known.make_seconds(wanted, stage(wanted))


def test_without_earlier_work_only_makes_that_write_little_are_estimated() -> None:
    nothing = known_disks(DISK_BYTES, [])
    assert nothing.rates is None
    assert seconds_of(nothing, plan("single")) == pytest.approx(4.4, abs=0.1)
    unknown = [
        *(plan("raid5 4x64K"), plan("raid1 2", sync="zeroed"), plan("single", "ext4"), plan("single", fill="80 %")),
        plan("single", precondition="fill"),
    ]
    assert [seconds_of(nothing, wanted) for wanted in unknown] == [None] * len(unknown)
    assert seconds_of(nothing, plan("raid5 4x64K", sync="assume_clean")) is not None


def test_a_synchronisation_gives_the_rate_of_the_next_one() -> None:
    known = known_disks(DISK_BYTES, [made(20_000, "raid5 4x64K")])
    assert known.rates is not None
    assert known.rates.sync_rate == pytest.approx(150e6)
    # Another layout of the same disks: 3 TB at 150 MB/s, and what does not depend on the rate.
    assert seconds_of(known, plan("raid6 6x64K")) == pytest.approx(20_000, rel=0.001)


def test_a_fill_gives_the_rate_of_each_data_disk() -> None:
    known = known_disks(DISK_BYTES, [filled(3 * 150e6 * 1000, 1000, "raid5 4x64K")])
    assert known.rates is not None
    assert known.rates.bytes_per_second == pytest.approx(150e6)
    wanted = plan("single", fill="80 %")
    assert seconds_of(known, wanted) == pytest.approx(0.8 * DISK_BYTES / 150e6, rel=0.001)


@pytest.mark.parametrize(("profile", "disks"), [("raid0", 4), ("raid10", 2), ("raid5", 3), ("raid1", 1), ("single", 1)])
def test_a_fill_of_btrfs_over_several_disks_is_not_the_rate_of_one_of_them(profile: str, disks: int) -> None:
    wanted = plan("", layouts=[{"disks": 4}], filesystems=[{"type": "btrfs", "profile": profile}])
    known = known_disks(DISK_BYTES, [PastWork(stage(wanted).make, 1000, disks * 150e6 * 1000)])
    assert known.rates is not None
    assert known.rates.bytes_per_second == pytest.approx(150e6)


def test_inode_tables_give_a_rate_too() -> None:
    written_bytes = DISK_BYTES * INODE_RATIO + 2**30
    known = known_disks(DISK_BYTES, [made(written_bytes / 150e6, "single", "ext4")])
    assert known.rates is not None
    assert known.rates.bytes_per_second == pytest.approx(150e6)


def test_a_make_of_the_same_kind_is_taken_as_it_was_measured_with_the_fill_by_rate() -> None:
    past = [made(500, "single", "ext4"), made(900, "single", "ext4"), filled(150e6 * 10, 10, "single")]
    known = known_disks(DISK_BYTES, past)
    newest = past[0].seconds
    assert seconds_of(known, plan("single", "ext4")) == newest
    assert known.is_measured(stage(plan("single", "ext4")))
    assert not known.is_measured(stage(plan("single", "ext4", size_percent=50)))
    assert seconds_of(known, plan("single", "ext4", fill="50 %")) == pytest.approx(newest + 1.5e12 / 150e6)


def test_a_make_that_took_no_longer_than_its_commands_shows_no_rate_and_is_still_taken_as_measured() -> None:
    known = known_disks(DISK_BYTES, [made(0.5, "single", "ext4")])
    assert known.rates is None
    assert seconds_of(known, plan("single", "ext4")) == pytest.approx(4.5)
    assert seconds_of(known, plan("single", "ext4", fill="80 %")) is None

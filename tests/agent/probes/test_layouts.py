"""Layouts and settings of Lustre and BeeGFS that need more than one number."""

import pytest
from factories.recorded import Recorded, mount_at, sample
from factories.recordings import BEEGFS_PATTERN, recordings

from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts


def lustre(**texts: str) -> Facts:
    recording = recordings()["lustre"]
    return mount_facts(recording.mount, Recorded(recording.texts | texts))


def layout(name: str) -> Facts:
    return lustre(**{"lfs getstripe -d /users": sample(name)})


def test_two_mirrors_in_two_pools_are_distinguished() -> None:
    facts = layout("lfs-getstripe.two-pools.txt")
    assert (facts["lustre.mirror_count"], facts["lustre.component_count"]) == (2, 2)
    assert (facts["lustre.pool"], facts["lustre.pattern"]) == ("fast, slow", "raid0")
    first, second = "mirror 1, 0-EOF: 2 x 1048576 in fast", "mirror 2, 0-EOF: 2 x 1048576 in slow"
    assert facts["lustre.layout"] == f"{first}; {second}"


def test_mirrors_of_several_components_keep_their_parts() -> None:
    facts = layout("lfs-getstripe.mirrored-file.txt")
    parts = str(facts["lustre.layout"]).split("; ")
    assert [part.partition(",")[0] for part in parts] == ["mirror 1", "mirror 1", "mirror 2"]
    assert parts[2] == "mirror 2, 0-EOF: 1 x 1048576 in archive"
    assert (facts["lustre.mirror_count"], facts["lustre.pool"]) == (2, "archive")


def test_data_on_mdt_is_a_size_and_not_a_stripe() -> None:
    facts = layout("lfs-getstripe.dom.txt")
    assert facts["lustre.data_on_mdt_bytes"] == 1048576
    assert (facts["lustre.pool"], facts["lustre.pattern"]) == ("flash, disk", "mdt, raid0, raid0,overstriped")
    assert str(facts["lustre.layout"]).startswith(
        "0-1048576: 0 x 1048576 mdt; 1048576-1073741824: 4 x 1048576 in flash"
    )
    assert "lustre.mirror_count" not in facts


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        (sample("lctl-get_param.max_read_ahead_mb.txt"), 1_055_538_545),
        ("64\n", 67_108_864),
        ("0.5\n0.50\n", 524_288),
        ("64\n0.25\n", "262144, 67108864"),
        ("64\nunlimited\n", 67_108_864),
    ],
)
def test_a_parameter_with_a_fraction_is_never_zero(printed: str, value: object) -> None:
    assert (
        lustre(**{"lctl get_param -n llite.users-*.max_read_ahead_mb": printed})["lustre.max_read_ahead_bytes"] == value
    )


@pytest.mark.parametrize("printed", ["unlimited\n", "", "-1\n", "1e3\n", "9" * 400])
def test_a_parameter_that_cannot_be_read_is_unknown(printed: str) -> None:
    facts = lustre(**{"lctl get_param -n llite.users-*.max_read_ahead_mb": printed})
    assert "lustre.max_read_ahead_bytes" not in facts


def test_entries_of_a_directory_are_on_one_mdt_unless_it_is_striped() -> None:
    facts = lustre()
    assert (facts["lustre.directory_mdt_count"], facts["lustre.directory_mdt_index"]) == (1, 1)
    assert (facts["lustre.new_directory_mdt_count"], facts["lustre.new_directory_hash"]) == (2, "crush")
    striped = (
        "lmv_stripe_count: 4 lmv_stripe_offset: 0 lmv_hash_type: fnv_1a_64,migrating\n"
        "mdtidx\t\t FID[seq:oid:ver]\n     0\t\t [0x200000401:0x2:0x0]\n     1\t\t [0x240000401:0x2:0x0]\n"
    )
    facts = lustre(**{"lfs getdirstripe /users": striped})
    assert (facts["lustre.directory_mdt_count"], facts["lustre.directory_hash"]) == (4, "fnv_1a_64")


def beegfs(**texts: str) -> Facts:
    recording = recordings()["beegfs"]
    kept = {key: text for key, text in recording.texts.items() if not key.startswith("beegfs-ctl")}
    return mount_facts(recording.mount, Recorded(kept | texts))


def test_beegfs_8_has_another_command_with_the_same_words() -> None:
    pattern = BEEGFS_PATTERN.replace("1 (Default)", "1  (default)").replace("512K", "1M")
    facts = beegfs(**{"beegfs entry info --retro /mnt/beegfs": pattern})
    assert (facts["beegfs.pattern"], facts["beegfs.chunk_bytes"], facts["beegfs.target_count"]) == ("RAID0", 1048576, 4)
    assert facts["beegfs.pool"] == "1 (default)"


def test_beegfs_without_either_command_names_both() -> None:
    because = str(beegfs()["beegfs.pattern"])
    assert "beegfs-ctl is not installed" in because
    assert "with BeeGFS 8, beegfs is not installed" in because


def test_the_pattern_of_an_older_release_asks_for_no_second_command() -> None:
    reader = Recorded(recordings()["beegfs"].texts)
    mount_facts(mount_at("/mnt/beegfs", "mountinfo.made.txt"), reader)
    assert not any(key.startswith("beegfs entry") for key in reader.asked)

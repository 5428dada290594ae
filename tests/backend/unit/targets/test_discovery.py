"""Grouping of mounts to file systems, and the targets that they can become or join."""

import pytest
from factories.announced import mount

from iotide_server.targets.discovery import FoundCandidate, Sighting, find_candidates, suggest_name
from iotide_server.targets.mounts import Frozen, stranger_problem
from iotide_wire.facts import Facts


def seen(
    node_id: int, path: str, fstype: str, source: str, facts: Facts | None = None, *, target: int | None = None
) -> Sighting:
    found = mount(path, fstype, source).model_copy(update={"facts": facts or {}})
    return Sighting(node_id, f"n{node_id}", path, found, target)


def shared(identity: str) -> Facts:
    return {"fs.identity": identity, "fs.identity_scope": "shared"}


def shown(found: list[FoundCandidate]) -> list[tuple[str, list[int], int | None]]:
    return [(one.scope, [place.node_id for place in one.seen], one.joins) for one in found]


def test_one_shared_file_system_is_one_candidate_wherever_and_from_whatever_name_it_is_mounted() -> None:
    found = find_candidates(
        [
            seen(1, "/scratch", "nfs4", "filer:/a", shared("nfs:10.0.0.1:/a")),
            seen(2, "/mnt/scratch", "nfs4", "filer.site:/a", shared("nfs:10.0.0.1:/a")),
            seen(3, "/other", "nfs4", "filer:/b", shared("nfs:10.0.0.1:/b")),
        ],
        [],
    )
    assert sorted(shown(found)) == [("shared", [1, 2], None), ("shared", [3], None)]


def test_a_server_with_several_addresses_is_one_by_its_name_and_export() -> None:
    found = find_candidates(
        [
            seen(1, "/s", "nfs4", "filer:/a", shared("nfs:10.0.0.1:/a")),
            seen(2, "/s", "nfs", "filer:/a", shared("nfs:10.0.0.2:/a")),
            seen(3, "/s", "nfs4", "filer:/a"),
        ],
        [],
    )
    assert shown(found) == [("shared", [1, 2, 3], None)]


def test_two_directories_of_a_file_system_are_two_candidates() -> None:
    one = seen(1, "/l/wide", "lustre", "mgs@tcp:/l", shared("lustre:l"))
    two = seen(1, "/l/one", "lustre", "mgs@tcp:/l", shared("lustre:l"))
    on_root = [
        Sighting(place.node_id, place.node_name, place.path, place.mount.model_copy(update={"mount_point": "/l"}), None)
        for place in (one, two)
    ]
    assert len(find_candidates(on_root, [])) == 2


def test_private_file_systems_at_one_path_are_one_candidate_of_scope_node_and_types_stay_apart() -> None:
    found = find_candidates(
        [
            seen(1, "/srv", "xfs", "/dev/sda1", {"fs.identity": "xfs:1", "fs.identity_scope": "node"}),
            seen(2, "/srv", "xfs", "/dev/sdb1", {"fs.identity": "xfs:2", "fs.identity_scope": "node"}),
            seen(3, "/srv", "ext4", "/dev/sdb1"),
        ],
        [],
    )
    assert sorted(shown(found)) == [("node", [1, 2], None), ("node", [3], None)]


def test_a_node_that_mounts_it_later_is_offered_to_join_and_what_is_a_target_is_not_offered_again() -> None:
    found = find_candidates(
        [
            seen(1, "/scratch", "nfs4", "filer:/a", shared("nfs:10.0.0.1:/a"), target=7),
            seen(2, "/mnt/x", "nfs4", "filer:/a", shared("nfs:10.0.0.1:/a")),
        ],
        ["scratch"],
    )
    assert shown(found) == [("shared", [2], 7)]


def test_each_candidate_has_a_name_of_its_own_that_the_server_accepts() -> None:
    places = [
        seen(1, "/scratch", "ext4", "/dev/sda1"),
        seen(2, "/scratch", "xfs", "/dev/sda1"),
        seen(3, "/data", "xfs", "/dev/sda1"),
    ]
    found = find_candidates(places, ["data", "data-xfs"])
    assert [one.suggested_name for one in found] == ["data-xfs-2", "scratch", "scratch-xfs"]
    assert [suggest_name(path) for path in ("/srv/bench", "/scratch/iotide", "/iotide", "/mnt/data (old)/", "/")] == [
        "srv-bench",
        "scratch",
        "iotide",
        "mnt-data-old",
        "root",
    ]


@pytest.mark.parametrize("odd", [1, 2, 3])
def test_a_node_with_another_file_system_than_most_is_reported(odd: int) -> None:
    mounts = {
        node_id: Frozen("xfs", "/dev/sdb1", "/s", "/", "xfs:other" if node_id == odd else "xfs:same")
        for node_id in (1, 2, 3)
    }
    problems = {node_id: stranger_problem(node_id, mounts) for node_id in mounts}
    assert [node_id for node_id, problem in problems.items() if problem] == [odd]
    assert "xfs:other is mounted there, but xfs:same on the other nodes of this shared target" in (problems[odd] or "")


def test_no_node_is_accused_where_nothing_is_known_or_the_server_is_the_same() -> None:
    mounts = {
        1: Frozen("nfs4", "filer:/a", "/s", "/", "nfs:10.0.0.1:/a"),
        2: Frozen("nfs4", "filer:/a", "/s", "/", "nfs:10.0.0.2:/a"),
        3: Frozen("nfs4", "alias:/a", "/s", "/", None),
    }
    assert [stranger_problem(node_id, mounts) for node_id in mounts] == [None, None, None]

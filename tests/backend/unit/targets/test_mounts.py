import pytest
from factories.announced import mount
from factories.raised import raised

from iotide_server.targets.errors import PATH_REFUSED
from iotide_server.targets.mounts import Frozen, clean_path, guard_problem, is_approved, mount_of


@pytest.mark.parametrize(
    ("path", "clean"),
    [("/scratch", "/scratch"), ("/scratch/", "/scratch"), ("//scratch//a/./b", "/scratch/a/b"), ("/a/..b", "/a/..b")],
)
def test_a_path_has_one_spelling(path: str, clean: str) -> None:
    assert clean_path(path) == clean


@pytest.mark.parametrize(
    "path",
    [
        "scratch",
        "",
        "/",
        "//",
        "/./",
        "/scratch/..",
        "/scratch/../etc",
        "/a\x00b",
        "/a\nb",
        "/a\u202eb",
        "/" + "a" * 4096,
    ],
)
def test_a_path_that_may_lead_anywhere_is_refused(path: str) -> None:
    with raised(PATH_REFUSED) as refusal:
        clean_path(path)
    assert refusal.value.field == "path"


def test_only_what_is_below_an_approved_directory_is_approved() -> None:
    assert is_approved("/scratch", ["/scratch"])
    assert is_approved("/scratch/a/b", ["/home", "/scratch"])
    assert not is_approved("/scratch2", ["/scratch"])
    assert not is_approved("/", ["/scratch"])
    assert not is_approved("/scratch", [])


def test_the_deepest_mount_above_a_path_holds_it() -> None:
    mounts = [mount("/", "ext4", "/dev/sda1"), mount("/mnt/nfs", "nfs4", "filer:/a"), mount("/mnt", "xfs", "/dev/sdb1")]
    found = mount_of("/mnt/nfs/bench", mounts)
    assert found is not None
    assert found.source == "filer:/a"
    next_to_nfs = mount_of("/mnt/nfsx", mounts)
    assert next_to_nfs is not None
    assert next_to_nfs.source == "/dev/sdb1"


def test_the_later_of_two_mounts_at_one_point_hides_the_earlier() -> None:
    found = mount_of("/mnt", [mount("/mnt", "ext4", "/dev/sda1"), mount("/mnt", "nfs4", "filer:/a")])
    assert found is not None
    assert found.fstype == "nfs4"


def test_the_entry_of_the_approved_directory_above_is_used_for_a_mount() -> None:
    root = mount("/", "ext4", "/dev/sda1")
    approved = root.model_copy(update={"path": "/bench", "free_bytes": 5})
    other = root.model_copy(update={"path": "/other", "free_bytes": 7})
    for mounts in ([approved, other, root], [root, other, approved]):
        assert mount_of("/bench/a", mounts) == approved


def test_the_guard_wants_the_same_type_source_place_and_directory() -> None:
    frozen = Frozen("nfs4", "filer:/a", "/mnt", "/")
    assert guard_problem(frozen, mount("/mnt", "nfs4", "filer:/a")) is None
    assert "nfs4 from filer:/b" in (guard_problem(frozen, mount("/mnt", "nfs4", "filer:/b")) or "")
    assert "ext4 from" in (guard_problem(frozen, mount("/mnt", "ext4", "filer:/a")) or "")
    assert "at / is mounted" in (guard_problem(frozen, mount("/", "nfs4", "filer:/a")) or "")
    bound = mount("/mnt", "nfs4", "filer:/a", **{"mount.root": "/below"})
    assert "its directory /below," in (guard_problem(frozen, bound) or "")
    assert "nothing is mounted" in (guard_problem(frozen, None) or "")


@pytest.mark.parametrize(
    ("fstype", "source", "is_held"),
    [
        ("xfs", "/dev/sdb1", True),
        ("zfs", "tank/runs", True),
        ("gfs2", "/dev/shared", True),
        ("gpfs", "/dev/scratch", False),
        ("nfs4", "filer:/a", False),
        ("fuse.glusterfs", "filer:/volume", False),
    ],
)
def test_an_identity_is_held_where_the_source_does_not_name_the_file_system(
    fstype: str, source: str, *, is_held: bool
) -> None:
    frozen = Frozen(fstype, source, "/mnt", "/", "one")
    assert guard_problem(frozen, mount("/mnt", fstype, source)) is None
    assert guard_problem(frozen, mount("/mnt", fstype, source, **{"fs.identity": "one"})) is None
    problem = guard_problem(frozen, mount("/mnt", fstype, source, **{"fs.identity": "other"}))
    assert (problem is not None) == is_held


def test_unknown_facts_are_no_difference() -> None:
    assert guard_problem(Frozen("xfs", "/dev/sdb1"), mount("/mnt", "xfs", "/dev/sdb1", **{"fs.identity": "a"})) is None

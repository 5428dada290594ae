import pytest
from factories.recorded import PROBE_DATA, mount_at, sample

from iotide_agent.probes.mounts import Mount, MountinfoError, holding, parse_mountinfo

LINE = "36 35 98:0 / /mnt rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue"


def at(*places: str) -> list[Mount]:
    return parse_mountinfo("\n".join(f"1 1 8:{n} / {place} rw - ext4 /dev/sda{n} rw" for n, place in enumerate(places)))


def test_options_of_mount_and_file_system_are_one_sorted_set() -> None:
    [mount] = parse_mountinfo(LINE)
    assert mount == Mount("/mnt", "ext3", "/dev/root", "98:0", "/", ("errors=continue", "noatime", "rw"), "/mnt")


def test_octal_escapes_are_undone() -> None:
    assert mount_at("/mnt/mfs", "mountinfo.moosefs.txt").source == "mfs#mfsmaster:9421"
    [mount] = parse_mountinfo(r"1 1 0:4 / /mnt/two\040words\011\134\012 rw - fuse caf\303\251 rw,x=a\054b")
    assert mount.mount_point == "/mnt/two words\t\\\n"
    assert mount.source == "café"
    assert {"x=a", "b"} < set(mount.options)


@pytest.mark.parametrize("strange", ["\r", "\f", "\x85", "\u2028"])
def test_only_newlines_part_mounts_whatever_else_a_directory_is_named(strange: str) -> None:
    # A user may mount a FUSE file system anywhere in a home directory; it must not hide other mounts from the agent.
    mounts = parse_mountinfo(f"1 1 0:4 / /home/u/a{strange}b rw - fuse.sshfs host: rw\n{LINE}\n")
    assert [mount.mount_point for mount in mounts] == [f"/home/u/a{strange}b", "/mnt"]


def test_an_escape_beyond_a_byte_is_none_of_the_kernel_s_and_stays_as_it_is() -> None:
    (mount,) = parse_mountinfo("1 1 0:4 / /mnt rw - fuse.sshfs a\\665b\\043 rw\n")
    assert mount.source == "a\\665b#"


@pytest.mark.parametrize("path", sorted(PROBE_DATA.glob("mountinfo.*")), ids=lambda path: path.stem)
def test_every_recorded_mountinfo_is_read(path: str) -> None:
    mounts = parse_mountinfo(sample(str(path)))
    assert mounts
    assert all(mount.mount_point.startswith("/") and mount.fstype and mount.source for mount in mounts)


def test_nfs_options_are_the_effective_ones() -> None:
    mount = mount_at("/mnt/nfs3", "mountinfo.nfs.txt")
    assert (mount.fstype, mount.source) == ("nfs", "127.0.0.1:/disk/exp")
    assert {"vers=3", "rsize=524288", "hard"} < set(mount.options)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/"),
        ("/home/me", "/"),
        ("/data", "/data"),
        ("/data/a/b", "/data/a"),
        ("/database", "/"),
        ("/data/ab", "/data"),
    ],
)
def test_path_is_held_by_the_deepest_mount_above_it(path: str, expected: str) -> None:
    mount = holding(at("/", "/data/a", "/data"), path)
    assert mount is not None
    assert mount.mount_point == expected


def test_later_mount_covers_an_earlier_one() -> None:
    mount = holding(at("/", "/data", "/data"), "/data/x")
    assert mount is not None
    assert mount.source == "/dev/sda2"


def test_no_mount_holds_a_path_where_there_is_none() -> None:
    assert holding([], "/data") is None


@pytest.mark.parametrize("length", range(1, len(LINE)))
def test_cut_line_is_refused_or_plausible(length: int) -> None:
    try:
        [mount] = parse_mountinfo(LINE[:length])
    except MountinfoError:
        return
    assert (mount.mount_point, mount.fstype, mount.source) == ("/mnt", "ext3", "/dev/root")

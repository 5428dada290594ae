"""NFS exports by the real exportfs, and the site's commands around a mount."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from agent.scratch.loops import Loops, performed
from agent.scratch.test_operations import EXT4, ORDER, SINGLE, done, mounted, ready, refused

from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.stack import exports_of

UNMOUNTING: Final = "unmounting.py"
NFS: Final[dict[str, Any]] = {**ORDER, "kind": "nfs"}
CLIENTS: Final = '[clients]\nnode02 = "10.0.0.2"\nnode03 = "fd00::3"\n'
MARKED_IN: Final = "#!/bin/sh\nls -A {mount} >{seen} 2>&1 && echo {word} >>{seen}\n"


@pytest.fixture
def served(loops: Loops) -> Iterator[Loops]:
    """Yield loops with one mounted set and two clients."""
    loops.list_in("bays", ready(loops), CLIENTS)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    done(performed(loops, "mount", **ORDER))
    yield loops
    done(performed(loops, "recover"))


def point(loops: Loops) -> str:
    return str(loops.site.mounts / "bays")


def options_of(loops: Loops, client: str) -> set[str]:
    """Return the options of an export, as exportfs stored it for the kernel's server."""
    lines = [line for line in Path("/var/lib/nfs/etab").read_text().splitlines() if line.startswith(point(loops))]
    (found,) = [line.partition("(")[2].rstrip(")") for line in lines if f"\t{client}(" in line]
    return set(found.split(","))


def commands(record: dict[str, Any]) -> list[str]:
    programs = [name for command in record["commands"] for name in map(base_name, command["argv"])]
    return [name for name in programs if name in {"exportfs", UNMOUNTING, "before_unmount"}]


def base_name(part: str) -> str:
    return part.rpartition("/")[2]


def test_an_export_maps_every_user_of_a_client_to_the_agents(served: Loops) -> None:
    answer = done(performed(served, "export", **NFS, clients=["node02", "node03"]))
    assert answer["clients"] == {"node02": "10.0.0.2", "node03": "fd00::3"}
    assert sorted(exports_of(point(served))) == ["10.0.0.2", "fd00::3"]
    stored = options_of(served, "10.0.0.2")
    assert {"rw", "sync", "secure", "all_squash", "root_squash", "sec=sys"} <= stored
    assert {"anonuid=65534", "anongid=65534"} <= stored
    assert set(answer["options"].split(",")) <= stored
    done(performed(served, "export", **NFS, clients=["node03"]))
    assert exports_of(point(served)) == ["fd00::3"], "an export names all of its clients"
    done(performed(served, "unexport", **NFS))
    done(performed(served, "unexport", **NFS))
    assert exports_of(point(served)) == []


@pytest.mark.parametrize(("verb", "words"), [("unmount", ORDER), ("wipe", ORDER), ("recover", {})])
def test_exports_end_before_the_mount_does(served: Loops, verb: str, words: dict[str, Any]) -> None:
    done(performed(served, "export", **NFS, clients=["node02", "node03"]))
    record = performed(served, verb, **words)
    done(record)
    assert commands(record) == ["exportfs", "exportfs", UNMOUNTING]
    assert exports_of(point(served)) == []


def test_root_ends_exports_too(served: Loops) -> None:
    done(performed(served, "export", **NFS, clients=["node03"]))
    with served.root(["SN-0"]) as root:
        root.release("serial-SN-0")
    assert exports_of(point(served)) == []


def test_only_a_mount_of_the_same_order_is_exported_and_only_to_listed_nodes(served: Loops) -> None:
    unknown = refused(performed(served, "export", **NFS, clients=["node02", "node09"]))
    assert unknown == "scratch.toml has no address of node09 in [clients]"
    assert "was made last by order 7" in refused(performed(served, "export", **NFS | {"order": 8}, clients=["node02"]))
    done(performed(served, "unmount", **ORDER))
    assert "is not mounted" in refused(performed(served, "export", **NFS, clients=["node02"]))
    assert exports_of(point(served)) == []


def hooked(loops: Loops, **scripts: str) -> None:
    """List one disk in set `bays` with these scripts as the site's commands."""
    lines = []
    for name, text in scripts.items():
        script = loops.config.with_name(name)
        script.write_text(text)
        script.chmod(0o755)
        lines.append(f'{name} = ["{script}"]\n')
    loops.list_in("bays", ready(loops), "".join(lines))


def test_the_sites_commands_run_while_the_file_system_is_mounted(loops: Loops, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    hooked(
        loops,
        after_mount=MARKED_IN.format(mount=point(loops), seen=seen, word="after"),
        before_unmount=MARKED_IN.format(mount=point(loops), seen=seen, word="before"),
    )
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    assert not seen.exists()
    done(performed(loops, "mount", **ORDER))
    assert seen.read_text() == "lost+found\nafter\n"
    record = performed(loops, "recover")
    done(record)
    assert seen.read_text() == "lost+found\nbefore\n"
    assert commands(record) == ["before_unmount", UNMOUNTING]
    seen.unlink()
    done(performed(loops, "recover"))
    assert not seen.exists(), "nothing was mounted"


def test_a_failing_command_after_the_mount_fails_it_with_its_words(loops: Loops, tmp_path: Path) -> None:
    hooked(loops, after_mount="#!/bin/sh\necho no licence for this server >&2\nexit 3\n")
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    record: dict[str, Any] = performed(loops, "mount", **ORDER)
    assert record["outcome"] == "failed"
    script = tmp_path / "after_mount"
    assert (
        record["reason"] == f"after_mount of scratch.toml: `{script}` ended with status 3: no licence for this server"
    )
    assert done(performed(loops, "recover"))["wiped"] == ["serial-SN-0"]


@pytest.mark.parametrize(("verb", "words"), [("unmount", ORDER), ("wipe", ORDER), ("recover", {})])
def test_a_failing_command_before_the_unmount_leaves_the_set_mounted_and_named(
    loops: Loops, verb: str, words: dict[str, Any]
) -> None:
    hooked(loops, before_unmount="#!/bin/sh\necho the brick does not stop >&2\nexit 1\n")
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    done(performed(loops, "mount", **ORDER))
    record: dict[str, Any] = performed(loops, verb, **words)
    assert record["outcome"] == "dirty"
    assert record["reason"].startswith("before_unmount of scratch.toml: ")
    assert record["reason"].endswith("the brick does not stop")
    assert mounted(loops)
    assert loops.state("serial-SN-0") == "made"
    loops.config.with_name("before_unmount").write_text("#!/bin/sh\n")
    done(performed(loops, "recover"))
    assert loops.state("serial-SN-0") == "clean"


def test_a_command_that_other_users_may_change_is_not_run(loops: Loops, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    hooked(loops, after_mount=f"#!/bin/sh\ntouch {seen}\n")
    (tmp_path / "after_mount").chmod(0o777)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    record: dict[str, Any] = performed(loops, "mount", **ORDER)
    assert record["outcome"] == "failed"
    assert "has mode 0777, so other users could change it" in record["reason"]
    assert not seen.exists()
    done(performed(loops, "recover"))


@pytest.mark.parametrize("value", ['"/bin/true"', "[]", '["true"]', '["/bin/true", 3]', "[[]]"])
def test_a_command_is_an_absolute_path_with_arguments(loops: Loops, value: str) -> None:
    loops.list_in("bays", ["serial-SN-0"], f"after_mount = {value}\n")
    with pytest.raises(ScratchRefusedError, match="list an absolute path and its arguments"):
        read_config(loops.config)

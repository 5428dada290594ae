import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.plug_ins import install_module
from factories.recorded import Recorded

from iotide_agent.probes.generic import GenericProbe
from iotide_agent.probes.mounts import Mount, parse_mountinfo
from iotide_agent.probes.registry import MountsUnknownError, all_probes, collect_facts, mount_facts
from iotide_wire.facts import Facts

MOUNTINFO = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 27 0:21 / /proc rw - proc proc rw
30 27 0:30 / /mnt/ram rw - tmpfs tmpfs rw,size=1024k
31 27 0:31 / /mnt/nfs rw - nfs4 server:/export rw,hard
32 27 0:32 / /mnt/dead rw - nfs4 gone:/export rw,hard
"""
PLUG_IN = """
from iotide_agent.probes.base import Probe

class Rack(Probe):
    name = "NAME"
    def matches(self, mount):
        return True
    def wants(self, mount, texts):
        return ()
    def facts(self, mount, texts):
        return {"rack.disk_count": 12}
"""
SPACE = "stat --file-system --format=%S %b %a %c %d"
TEXTS = {
    "/proc/self/mountinfo": MOUNTINFO,
    f"{SPACE} /mnt/nfs/runs": "4096 1000 250 500 400\n",
    f"{SPACE} /mnt/ram": "4096 256 256 0 0\n",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory in which packages are installed; the registry is reset before and after."""
    monkeypatch.syspath_prepend(tmp_path)
    all_probes.cache_clear()
    yield tmp_path
    all_probes.cache_clear()
    sys.modules.pop("iotide_test_rack", None)


def test_node_that_runs_the_tests_is_described(tmp_path: Path) -> None:
    facts, mounts = collect_facts([str(tmp_path)])
    assert int(str(facts["memory.total_bytes"])) > 0
    assert int(str(facts["cpu.count"])) > 0
    [mine] = [mount for mount in mounts if mount.path == str(tmp_path)]
    assert mine.approved
    assert mine.total_bytes is not None
    assert mine.free_bytes is not None
    assert mine.total_bytes >= mine.free_bytes > 0
    assert mine.facts["mount.fstype"] == mine.fstype


def test_facts_are_the_same_after_something_was_written(tmp_path: Path) -> None:
    before, [mount_before, *_] = collect_facts([str(tmp_path)])
    (tmp_path / "file").write_bytes(b"x" * 10_000_000)
    after, [mount_after, *_] = collect_facts([str(tmp_path)])
    assert after == before
    assert mount_after.facts == mount_before.facts


def test_approved_directory_is_reported_with_its_mount_and_space() -> None:
    _, [runs, *_] = collect_facts(["/mnt/nfs/runs"], Recorded(TEXTS))
    assert (runs.path, runs.mount_point, runs.fstype, runs.source) == (
        "/mnt/nfs/runs",
        "/mnt/nfs",
        "nfs4",
        "server:/export",
    )
    assert runs.mount_options == "hard,rw"
    assert (runs.total_bytes, runs.free_bytes) == (4096 * 1000, 4096 * 250)
    assert (runs.total_inodes, runs.free_inodes) == (500, 400)


def test_file_system_that_counts_no_inodes_has_none() -> None:
    _, [ram, *_] = collect_facts(["/mnt/ram"], Recorded(TEXTS))
    assert ram.total_bytes == 4096 * 256
    assert (ram.total_inodes, ram.free_inodes) == (None, None)


def test_unparseable_space_is_unknown_and_shown() -> None:
    _, [ram, *_] = collect_facts(["/mnt/ram"], Recorded(TEXTS | {f"{SPACE} /mnt/ram": "? 1 2 3 4\n"}))
    assert ram.total_bytes is None
    assert "'? 1 2 3 4" in str(ram.facts["mount.space"])


def test_layout_is_that_of_the_approved_directory_rather_than_of_the_mount() -> None:
    texts = {
        "/proc/self/mountinfo": "1 1 0:5 / /l rw - lustre 10.0.0.1@tcp:/l rw\n",
        f"{SPACE} /l/runs": "4096 10 10 10 10\n",
        "lfs getstripe -d /l/runs": "/l/runs\nstripe_count: 4 stripe_size: 1048576 pattern: raid0 stripe_offset: -1\n",
    }
    _, [runs, *_] = collect_facts(["/l/runs"], Recorded(texts))
    assert runs.facts["lustre.stripe_count"] == 4


def test_mounts_that_are_none_of_its_business_are_listed_but_not_touched() -> None:
    reader = Recorded(TEXTS)
    _, mounts = collect_facts(["/mnt/nfs/runs"], reader)
    listed = {mount.path: mount.approved for mount in mounts}
    assert listed == {"/mnt/nfs/runs": True, "/": False, "/mnt/ram": False, "/mnt/dead": False, "/mnt/nfs": False}
    assert not any("/mnt/dead" in asked for asked in reader.asked)


def test_mounts_below_an_approved_directory_are_approved() -> None:
    _, mounts = collect_facts(["/mnt"], Recorded(TEXTS))
    assert {mount.path for mount in mounts if mount.approved} == {"/mnt", "/mnt/ram", "/mnt/nfs", "/mnt/dead"}


def test_space_of_a_hanging_mount_is_unknown_and_reported() -> None:
    _, [dead, *_] = collect_facts(["/mnt/dead"], Recorded(TEXTS))
    assert (dead.total_bytes, dead.free_bytes) == (None, None)
    assert str(dead.facts["mount.space"]).startswith("unavailable, because ")


class Raising(GenericProbe):
    name = "raising"

    def facts(self, mount: Mount, texts: object) -> Facts:
        del mount, texts
        raise RuntimeError("what it did not expect")


class Shouting(GenericProbe):
    name = "shouting"

    def facts(self, mount: Mount, texts: object) -> Facts:
        del mount, texts
        return {"NOT A NAME": 1}


def test_failing_probe_is_reported_and_affects_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = {"raising": Raising(), "shouting": Shouting(), "generic": GenericProbe()}
    monkeypatch.setattr("iotide_agent.probes.registry.all_probes", lambda: probes)
    facts = mount_facts(parse_mountinfo(MOUNTINFO)[0], Recorded(TEXTS))
    assert "what it did not expect" in str(facts["raising.probe"])
    assert str(facts["shouting.probe"]).startswith("unavailable, because ")
    assert facts["mount.fstype"] == "ext4"


def test_mount_with_too_many_options_for_a_message_is_cut() -> None:
    layers = ":".join(f"/layers/{number}" for number in range(1000))
    overlay = f"33 27 0:33 / /merged rw - overlay overlay rw,lowerdir={layers}\n"
    _, mounts = collect_facts([], Recorded(TEXTS | {"/proc/self/mountinfo": MOUNTINFO + overlay}))
    [merged] = [mount for mount in mounts if mount.path == "/merged"]
    assert len(merged.mount_options) == 4000


def test_mount_that_does_not_answer_is_asked_nothing_more() -> None:
    reader = Recorded({"/proc/self/mountinfo": "1 1 0:5 / /l rw - lustre 10.0.0.1@tcp:/l rw\n"})
    collect_facts(["/l/runs"], reader)
    assert [asked for asked in reader.asked if "/l" in asked] == [f"{SPACE} /l/runs"]


def test_node_without_mountinfo_cannot_guard_and_reports_it() -> None:
    with pytest.raises(MountsUnknownError, match="/proc/self/mountinfo cannot be read"):
        collect_facts(["/data"], Recorded({}))


def test_facts_of_an_installed_plug_in_are_added_to_our_own(site: Path) -> None:
    install_module(site, "iotide.probes", "iotide_test_rack", PLUG_IN.replace("NAME", "rack"), "Rack")
    facts = mount_facts(parse_mountinfo(MOUNTINFO)[0], Recorded(TEXTS))
    assert facts["rack.disk_count"] == 12
    assert facts["mount.fstype"] == "ext4"


@pytest.mark.parametrize(
    "source",
    [
        "raise RuntimeError('broken')",
        "Rack = 3",
        PLUG_IN.replace("NAME", "no name"),
        PLUG_IN.replace("NAME", "generic"),
        "",
    ],
)
def test_broken_or_double_plug_in_is_logged_and_left_out(
    source: str, site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = dict(all_probes())
    all_probes.cache_clear()
    install_module(site, "iotide.probes", "iotide_test_rack", source, "Rack")
    assert all_probes().keys() == own.keys()
    assert type(all_probes()["generic"]) is GenericProbe
    assert "iotide_test_rack" in caplog.text

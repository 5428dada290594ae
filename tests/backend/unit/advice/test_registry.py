from dataclasses import replace

from factories.advised import places, site

from iotide_server.advice.registry import RULES, advise
from iotide_server.advice.scene import Scene, SceneCell
from iotide_server.advice.sites import facts_by_node, sites_of
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import KIB

NFS: Facts = {"nfs.rsize_bytes": 8 * KIB, "nfs.wsize_bytes": 8 * KIB, "nfs.sync": False, "nfs.transport": "udp"}


def test_advice_shared_by_nodes_is_reported_once_most_severe_first() -> None:
    one = site("nfs", NFS | {"nfs.version": "3"}, device="filer:/a")
    report = advise(places(one, replace(one, node="node08")))
    assert [(entry.code, entry.subjects) for entry in report.advice] == [
        ("nfs_udp", ["scratch on node07", "scratch on node08"]),
        ("nfs_small_transfers", ["scratch on node07", "scratch on node08"]),
    ]
    assert [(one.code, len(one.subjects)) for one in report.not_known] == [("nfs_export", 2)]
    assert [look.looks_at for look in report.looked_at] == [rule.looks_at for rule in RULES]
    writes = next(look for look in report.looked_at if look.looks_at == "NFS synchronous writes")
    assert (len(writes.fine), writes.advised, writes.not_known) == (2, 0, 2)


def test_the_facts_of_a_gang_are_taken_apart_by_node() -> None:
    environment: Facts = {"n1/memory.total_bytes": 1, "n2/memory.total_bytes": 2, "n2/backing.raid.md.level": "raid5"}
    by_node = facts_by_node(environment, ["n1", "n2"])
    assert by_node == {
        "n1": {"memory.total_bytes": 1},
        "n2": {"memory.total_bytes": 2, "backing.raid.md.level": "raid5"},
    }
    assert facts_by_node(environment, ["n1"]) == {"n1": {"memory.total_bytes": 1}}, "the other one only sends"
    assert facts_by_node({"memory.total_bytes": 1}, ["n1"]) == {"n1": {"memory.total_bytes": 1}}


def ran(targets: tuple[str, ...], run_id: int, **facts: FactValue) -> SceneCell:
    by_node: dict[str, Facts] = {"n1": {name.replace("__", "."): value for name, value in facts.items()}}
    return SceneCell(1, 9, "dd", {}, "", ("n1",), targets, by_node, (run_id,))


def test_a_run_has_facts_of_its_target_and_its_backing() -> None:
    cell = ran(
        ("nfs",), 7, mount__fstype="nfs4", backing__raid__md__level="raid5", backing__raid__s1__ext__block_bytes=1
    )
    own, server, other = sites_of([cell], {("nfs", "n1"): ("/mnt", "filer:/a")})
    assert (own.name, own.mount_point, own.device, own.fstype, own.run_ids) == (
        "nfs on n1",
        "/mnt",
        "filer:/a",
        "nfs4",
        (7,),
    )
    assert (server.name, server.facts, server.is_below) == ("raid", {"md.level": "raid5"}, True)
    assert (other.name, other.facts) == ("raid on s1", {"ext.block_bytes": 1})


def test_the_first_of_several_cells_represents_a_target_and_targets_loaded_together_do_not() -> None:
    cells = [ran(("a", "b"), 9), ran(("a",), 8, md__level="raid5"), ran(("a",), 7)]
    (only,) = sites_of(cells, {})
    assert (only.target, only.run_ids) == ("a", (8,))


def test_each_variant_of_scratch_disks_is_judged_by_its_own_facts() -> None:
    layouts = ["raid5 3x64K", "lvm linear on 2 raid5 3x64K", "raid5 3x64K"]
    cells = [
        replace(ran(("bays",), 7, scratch__layout=layout, lvm__name="iotide-scratch"), variant=f"{layout} / xfs")
        for layout in layouts
    ]
    report = advise(Scene(sites_of(cells, {}), []))
    linear = next(entry for entry in report.advice if entry.code == "linear_volume")
    assert linear.subjects == ["bays (lvm linear on 2 raid5 3x64K / xfs) on n1"]
    assert report.places == 2

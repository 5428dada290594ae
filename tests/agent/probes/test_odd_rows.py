"""Lists of file systems with a row that cannot be read."""

import json

import pytest
from factories.recorded import Recorded, sample
from factories.recordings import STATUS, ethernet, recordings

from iotide_agent.probes import ceph
from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts


def facts_of(name: str, **changed: str) -> Facts:
    recording = recordings()[name]
    return mount_facts(recording.mount, Recorded(recording.texts | changed))


ODD_LINES = ["-", "users-OST0007_UUID", "retry: connection timed out", "\u2026 \u2026 \u2026 \u2026 \u2026"]


@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_row_hides_no_target_of_lustre(odd: str) -> None:
    usual = sample("lfs-df.txt")
    middle = usual.replace("users-OST0000_UUID", f"{odd}\nusers-OST0000_UUID")
    inactive = "users-OST0009_UUID : inactive device\nOST000a : Resource temporarily unavailable\n"
    facts = facts_of("lustre", **{"lfs df /users": inactive + middle})
    assert (facts["lustre.ost_count"], facts["lustre.mdt_count"]) == (2, 1)


@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_row_hides_no_quorum_node_of_gpfs(odd: str) -> None:
    nodes = (
        " Node  Daemon node name  IP address    Admin node name  Designation\n"
        "-------------------------------------------------------------------\n"
        f"   1   gpfs01.site       10.0.0.5      gpfs01\n{odd}\n"
        "   2   gpfs02.site       10.0.0.6      gpfs02           quorum-manager\n"
    )
    texts = {"/usr/lpp/mmfs/bin/mmlscluster": nodes, "hostname --all-ip-addresses": "10.0.0.5\n"}
    assert facts_of("gpfs", **texts, **ethernet("10.0.0.6"))["network.interface"] == "eth0"


@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_row_hides_no_option_of_gluster(odd: str) -> None:
    info = "gluster --mode=script --remote-host=10.77.0.1 volume info gv0"
    text = sample("gluster-volume-info.distribute.txt").replace("Reconfigured:\n", f"Reconfigured:\n{odd}\n")
    assert facts_of("glusterfs", **{info: text})["gluster.options"] == facts_of("glusterfs")["gluster.options"]


@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_row_hides_no_pool_and_no_release_of_ceph(odd: str) -> None:
    pools = sample("ceph-fs-status.txt").replace("cmeta ", f"{odd}\ncmeta ")
    versions = json.loads(sample("ceph-versions.json"))
    texts = {
        f"{STATUS} fs status": pools + "other - 2 clients\n===\n POOL  TYPE  USED  AVAIL\nodata  data  1M  2M\n",
        f"{STATUS} versions --format json": json.dumps({"overall": {odd: 1} | versions["overall"]}),
    }
    facts = facts_of("ceph", **texts)
    assert (facts["ceph.data_pools"], facts["ceph.versions"]) == ("cdata,odata", "16.2.15")


@pytest.mark.parametrize("odd", [None, 7, {}, {"state_name": "degraded"}, {"state_name": "degraded", "count": "many"}])
def test_an_odd_state_hides_no_trouble_of_ceph(odd: object) -> None:
    states = [odd, {"state_name": "active+undersized", "count": 3}]
    status = {"osdmap": {}, "pgmap": {"pgs_by_state": states}}
    assert ceph.troubles(json.dumps(status)) == ["ceph: 3 placement groups active+undersized"]

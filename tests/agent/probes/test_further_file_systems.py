import json

import pytest
from factories.recorded import Recorded, mount_at
from factories.recordings import JUICEFS, recordings

from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts


def facts_of(name: str) -> Facts:
    recording = recordings()[name]
    return mount_facts(recording.mount, Recorded(recording.texts))


def test_weka_reports_its_cache_and_read_ahead() -> None:
    facts = facts_of("weka")
    assert (facts["weka.file_system"], facts["weka.cache"]) == ("fast", "writecache")
    assert facts["weka.read_ahead_bytes"] == 33_554_432
    assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("weka:backend1.site/fast", "shared")


def test_daos_is_known_by_its_container() -> None:
    facts = facts_of("daos")
    assert (facts["daos.pool"], facts["daos.container"], facts["daos.redundancy_count"]) == ("tank", "bench", 1)
    assert (facts["daos.object_class"], facts["daos.chunk_bytes"]) == ("SX", 1048576)
    assert facts["fs.identity"] == "daos:5f1a2b3c-0000-4000-8000-1234567890ab"


def test_smb_reports_what_is_in_effect_and_its_link() -> None:
    facts = facts_of("cifs")
    assert (facts["cifs.version"], facts["cifs.cache"], facts["cifs.rsize_bytes"]) == ("3.1.1", "strict", 4194304)
    assert (facts["cifs.channel_count"], facts["cifs.multichannel"], facts["cifs.encrypted"]) == (4, True, False)
    assert facts["network.link_bits_per_second"] == 10 * 10**9
    assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("cifs://10.0.0.5/bench", "shared")


def test_juicefs_is_known_by_its_volume_and_shows_no_key() -> None:
    facts = facts_of("juicefs")
    assert (facts["juicefs.volume"], facts["juicefs.storage"]) == ("bench", "s3")
    assert (facts["juicefs.block_bytes"], facts["juicefs.write_back"]) == (4_194_304, True)
    assert facts["fs.identity"] == "juicefs:1f1a2b3c"
    assert "removed" not in json.dumps(facts)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"Format": 7}', '{"Format": {"BlockSize": "4096", "UUID": 7}}'])
def test_a_configuration_of_another_shape_leaves_juicefs_shared_and_unnamed(text: str) -> None:
    facts = mount_facts(recordings()["juicefs"].mount, Recorded({"cat /mnt/jfsvol/.config": text}))
    assert ("fs.identity" in facts, facts["fs.identity_scope"]) == (False, "shared")
    assert "juicefs.block_bytes" not in facts
    assert json.loads(JUICEFS)["Format"]["BlockSize"] == 4096


def test_an_object_store_is_shared_though_its_bucket_is_unknown() -> None:
    facts = mount_facts(mount_at("/mnt/s3", "mountinfo.made.txt"), Recorded({}))
    assert (facts["fuse.file_system"], facts["fs.identity_scope"]) == ("s3fs", "shared")
    assert "fs.identity" not in facts


def test_virtiofs_is_the_node_s_own_and_says_if_it_maps_the_host_s_cache() -> None:
    facts = facts_of("virtiofs")
    assert (facts["virtiofs.tag"], facts["virtiofs.dax"], facts["fs.identity_scope"]) == ("hostdir", "inode", "node")


def test_bcachefs_on_two_disks_reports_copies_tiers_and_both_disks() -> None:
    facts = facts_of("bcachefs")
    assert (facts["bcachefs.device_count"], facts["bcachefs.data_replica_count"]) == (2, 2)
    assert (facts["bcachefs.compression"], facts["bcachefs.background_target"]) == ("lz4", "hdd")
    assert (facts["disk.count"], facts["device.stack"]) == (2, "2 x disk")

import pytest
from factories.recorded import Recorded, mount_at, sample
from factories.recordings import Recording, ethernet, recordings

from iotide_agent.probes.base import options_of
from iotide_agent.probes.mounts import Mount, parse_mountinfo
from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts

RECORDINGS = recordings()


def facts_of(name: str, **changed: str) -> Facts:
    recording: Recording = RECORDINGS[name]
    return mount_facts(recording.mount, Recorded(recording.texts | changed))


def plain(line: str) -> Mount:
    [mount] = parse_mountinfo(f"1 1 0:9 / /m rw - {line}")
    return mount


def identity(mount: Mount, **texts: str) -> tuple[object, object]:
    facts = mount_facts(mount, Recorded(texts))
    return facts.get("fs.identity"), facts["fs.identity_scope"]


class TestNfs:
    def test_options_are_those_in_effect(self) -> None:
        facts = facts_of("nfs")
        assert (facts["nfs.version"], facts["nfs.transport"], facts["nfs.security"]) == ("4.2", "tcp", "sys")
        assert (facts["nfs.rsize_bytes"], facts["nfs.wsize_bytes"]) == (524288, 524288)
        assert (facts["nfs.hard"], facts["nfs.sync"], facts["nfs.timeout_seconds"]) == (True, False, 60.0)
        assert (facts["nfs.acregmin_seconds"], facts["nfs.acdirmax_seconds"]) == (3, 60)
        assert facts["nfs.pnfs"] == "not configured"
        assert (facts["nfs.fsid"], facts["nfs.read_ahead_bytes"]) == ("1:0", 131072)

    @pytest.mark.parametrize("mount_point", ["/mnt/nfs3", "/mnt/nfs4"])
    def test_options_agree_with_nfsstat(self, mount_point: str) -> None:
        _, _, block = sample("nfsstat-m.txt").partition(f"{mount_point} from ")
        options = options_of(block.partition("Flags:\t")[2].splitlines()[0].split(","))
        mountstats = {"/proc/self/mountstats": sample("mountstats.nfs.txt")}
        facts = mount_facts(mount_at(mount_point, "mountinfo.nfs.txt"), Recorded(mountstats))
        assert facts["nfs.version"] == options["vers"]
        assert facts["nfs.rsize_bytes"] == int(options["rsize"])
        assert facts["nfs.retransmission_count"] == int(options["retrans"])

    def test_counters_and_ports_are_no_facts(self) -> None:
        later = sample("mountstats.nfs.txt").replace("age:\t5", "age:\t9").replace("369360896", "999")
        assert facts_of("nfs", **{"/proc/self/mountstats": later}) == facts_of("nfs")
        before = mount_at("/mnt/nfs3", "mountinfo.nfs.txt")
        [after] = parse_mountinfo(
            next(line for line in sample("mountinfo.nfs.txt").splitlines() if "vers=3" in line).replace(
                "32787", "40001"
            )
        )
        assert mount_facts(after, Recorded({})) == mount_facts(before, Recorded({}))

    def test_server_is_known_by_its_address_under_whatever_name_it_was_mounted(self) -> None:
        one, other = (plain(f"nfs4 {name}:/exp rw,vers=4.2,addr=10.0.0.5") for name in ("nas", "nas.site.example"))
        assert identity(one) == identity(other) == ("nfs:10.0.0.5:/exp", "shared")
        assert identity(plain("nfs nas:/exp/ rw,vers=3,addr=10.0.0.5")) == identity(one)

    def test_server_of_the_node_itself_is_another_one_on_each_node(self) -> None:
        assert identity(mount_at("/mnt/nfs4", "mountinfo.nfs.txt")) == ("nfs:127.0.0.1:/disk/exp", "node")

    def test_ipv6_server(self) -> None:
        assert identity(plain("nfs4 [fd00::5]:/exp rw,vers=4.2")) == ("nfs:fd00::5:/exp", "shared")

    def test_client_in_user_space_reports_the_same_file_system(self) -> None:
        fuse, kernel = plain("fuse.fuse-nfs nfs://10.0.0.5/exp?version=3 rw"), plain("nfs nas:/exp rw,addr=10.0.0.5")
        assert identity(fuse) == identity(kernel)


class TestLustre:
    def layout(self, text: str) -> Facts:
        mount = mount_at("/mnt/lustre", "mountinfo.lustre.txt")
        return mount_facts(mount, Recorded({"lfs getstripe -d /mnt/lustre": text}))

    @pytest.mark.parametrize(
        ("recorded", "count", "size", "pattern"),
        [
            ("lfs-getstripe.plain.txt", 4, 1048576, "raid0"),
            ("lfs-getstripe.dir.txt", 1, 1048576, "default"),
            ("lfs-getstripe.old.txt", 3, 33554432, None),
            ("lfs-getstripe.y.simple.yaml", 8, 2097152, "raid0"),
        ],
    )
    def test_plain_layout_of_every_release(self, recorded: str, count: int, size: int, pattern: str | None) -> None:
        facts = self.layout(sample(recorded))
        assert (facts["lustre.stripe_count"], facts["lustre.stripe_bytes"]) == (count, size)
        assert facts.get("lustre.pattern") == pattern
        assert facts["lustre.layout"] == f"0-EOF: {count} x {size}"

    def test_directory_that_was_set_to_stripe(self) -> None:
        facts = self.layout(sample("lfs-getstripe.dir.txt").rpartition("striped/\n")[2])
        assert (facts["lustre.stripe_count"], facts["lustre.stripe_offset"], facts["lustre.pattern"]) == (
            4,
            -1,
            "raid0",
        )

    def test_progressive_layout_reports_its_components(self) -> None:
        facts = self.layout(sample("lfs-getstripe.pfl.txt"))
        assert facts["lustre.layout"] == "0-4194304: 2 x 4194304; 4194304-EOF: 1 x 1048576"
        assert facts["lustre.component_count"] == 2
        assert "lustre.stripe_count" not in facts
        yaml = self.layout(sample("lfs-getstripe.y.pfl.yaml"))
        parts = str(yaml["lustre.layout"]).split("; ")
        assert parts[:2] == ["0-1048576: 1 x 1048576 in disk", "1048576-8388608: 2 x 1048576 in flash"]

    def test_targets_of_this_file_system_are_counted(self) -> None:
        facts = facts_of("lustre")
        assert (facts["lustre.ost_count"], facts["lustre.mdt_count"]) == (2, 1)
        exacloud = Recorded({"lfs df /mnt/exacloud": sample("lfs-df.txt")})
        assert mount_facts(mount_at("/mnt/exacloud", "mountinfo.lustre.txt"), exacloud)["lustre.ost_count"] == 2

    def test_free_space_is_no_fact(self) -> None:
        fuller = sample("lfs-df.txt").replace("2.0G", "1.0G").replace("25%", "62%")
        assert facts_of("lustre", **{"lfs df /users": fuller}) == facts_of("lustre")

    def test_client_settings_and_version(self) -> None:
        facts = facts_of("lustre")
        assert (facts["lustre.version"], facts["lustre.max_dirty_bytes"]) == ("2.10.5", 32 * 1024**2)
        mixed = facts_of("lustre", **{"lctl get_param -n osc.users-OST*.checksums": "1\n0\n1\n"})
        assert mixed["lustre.checksums"] == "0, 1"
        old = sample("lctl-get_param-version.txt").partition("\n")[2]
        assert facts_of("lustre", **{"lctl get_param version": old})["lustre.version"] == "2.6.52"

    def test_identity_is_the_name_whatever_network_the_node_is_on(self) -> None:
        tcp, ib = plain("lustre 10.0.0.1@tcp:10.0.0.2@tcp:/lfs1 rw"), plain("lustre 10.9.0.1@o2ib:/lfs1/runs rw")
        assert identity(tcp) == identity(ib) == ("lustre:lfs1", "shared")

    def test_link_of_the_first_server(self) -> None:
        assert facts_of("lustre")["network.link_bits_per_second"] == 10 * 10**9


class TestGpfs:
    def test_machine_readable_attributes(self) -> None:
        facts = facts_of("gpfs")
        assert (facts["gpfs.fragment_bytes"], facts["gpfs.inode_bytes"]) == (8192, 512)
        assert facts["gpfs.version"] == "14.03 (4.1.0.0)"
        assert (facts["gpfs.fileset"], facts["gpfs.directory_data_replica_count"]) == ("root", 1)
        assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("gpfs:scratch", "shared")

    def test_uid_is_the_identity_under_whatever_name_a_cluster_mounts_it(self) -> None:
        row = "mmlsfs::0:1:::{}:UID:0A0B0C0D%3A5E4F9685::\n"
        [one, other] = (
            identity(plain(f"gpfs {name} rw"), **{f"/usr/lpp/mmfs/bin/mmlsfs {name} -Y": row.format(name)})
            for name in ("fs1", "remote_fs1")
        )
        assert one == other == ("gpfs:0a0b0c0d:5e4f9685", "shared")

    def test_table_where_the_release_knows_no_other(self) -> None:
        table = {"/usr/lpp/mmfs/bin/mmlsfs ffs": sample("mmlsfs-all.txt")}
        facts = mount_facts(mount_at("/ffs", "mountinfo.gpfs.txt"), Recorded(table))
        assert (facts["gpfs.block_bytes"], facts["gpfs.fragment_bytes"], facts["gpfs.subblock_count"]) == (
            524288,
            16384,
            32,
        )
        assert (facts["gpfs.metadata_replica_count"], facts["gpfs.data_replica_count"]) == (1, 1)
        assert (facts["gpfs.block_allocation"], facts["gpfs.version"]) == ("scatter", "17.00 (4.2.3.0)")
        assert (facts["gpfs.disk_count"], facts["gpfs.pools"]) == (6, "system")

    def test_link_is_the_one_to_another_quorum_node(self) -> None:
        # As in the manual of mmlscluster.
        nodes = (
            " Node  Daemon node name  IP address    Admin node name  Designation\n"
            "-------------------------------------------------------------------\n"
            "   1   gpfs01.site       10.0.0.5      gpfs01           quorum-manager\n"
            "   2   gpfs02.site       10.0.0.6      gpfs02           quorum\n"
            "   3   gpfs03.site       10.0.0.2      gpfs03\n"
        )
        texts = {"/usr/lpp/mmfs/bin/mmlscluster": nodes, "hostname --all-ip-addresses": "10.0.0.5 10.9.0.5 \n"}
        facts = facts_of("gpfs", **texts, **ethernet("10.0.0.6"))
        assert (facts["network.interface"], facts["network.link_bits_per_second"]) == ("eth0", 10 * 10**9)
        assert "network.server" not in facts

    def test_absent_commands_are_reported(self) -> None:
        facts = mount_facts(mount_at("/ibm/fs1", "mountinfo.gpfs.txt"), Recorded({}))
        assert str(facts["gpfs.block_bytes"]).startswith(
            "unavailable, because /usr/lpp/mmfs/bin/mmlsfs is not installed"
        )
        assert facts["fs.identity"] == "gpfs:fs1"


class TestPvfs2:
    def test_servers_and_distribution(self) -> None:
        facts = facts_of("pvfs2")
        assert (facts["pvfs2.server_count"], facts["pvfs2.metadata_server_count"]) == (3, 3)
        assert (facts["pvfs2.distribution"], facts["pvfs2.strip_bytes"]) == ("simple_stripe", 65536)
        assert (facts["pvfs2.datafile_count"], facts["pvfs2.protocol"]) == (3, "tcp")
        assert str(facts["pvfs2.version"]).startswith("2.10.0-orangefs")
        assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("pvfs2:1452806445", "shared")
        assert facts["network.interface"] == "eth0"

    def test_space_uptime_and_load_are_no_facts(self) -> None:
        text = sample("pvfs2-statfs.txt").replace(": 57", ": 99").replace("949493760", "1").replace("188096", "7")
        assert facts_of("pvfs2", **{"pvfs2-statfs -m /mnt/pvfs2": text}) == facts_of("pvfs2")

    def test_hints_of_the_directory(self) -> None:
        command = "getfattr --absolute-names --dump --match=^user\\.pvfs2\\. /mnt/pvfs2"
        hints = '# file: /mnt/pvfs2\nuser.pvfs2.num_dfiles="1"\n\n'
        assert facts_of("pvfs2", **{command: hints})["pvfs2.hint.num_dfiles"] == "1"

    def test_directory_without_a_file_gives_the_remedy(self) -> None:
        facts = facts_of("pvfs2", **{"find /mnt/pvfs2 -maxdepth 1 -type f -print -quit": ""})
        assert "create one there" in str(facts["pvfs2.distribution"])


class TestGlusterfs:
    def info(self, text: str) -> Facts:
        command = "gluster --mode=script --remote-host=10.77.0.1 volume info gv0"
        return facts_of("glusterfs", **{command: text})

    def test_distributed_volume(self) -> None:
        facts = facts_of("glusterfs")
        assert (facts["gluster.type"], facts["gluster.brick_count"], facts["gluster.distribute_count"]) == (
            "Distribute",
            3,
            3,
        )
        assert (facts["gluster.version"], facts["gluster.transport"]) == ("10.3", "tcp")
        assert "features.shard=off" in str(facts["gluster.options"])
        assert facts["fuse.max_read_bytes"] == 131072

    def test_dispersed_volume(self) -> None:
        facts = self.info(sample("gluster-volume-info.disperse.txt"))
        assert (facts["gluster.disperse_data_count"], facts["gluster.disperse_redundancy_count"]) == (2, 1)
        assert (facts["gluster.brick_count"], facts["gluster.distribute_count"]) == (3, 1)

    def test_replicated_volume(self) -> None:
        text = sample("gluster-volume-info.distribute.txt").replace("Type: Distribute", "Type: Distributed-Replicate")
        facts = self.info(text.replace("Bricks: 3", "Bricks: 2 x 3 = 6"))
        assert (facts["gluster.replica_count"], facts["gluster.brick_count"]) == (3, 6)
        assert facts["gluster.distribute_count"] == 2

    def test_volume_id_is_the_identity_from_whichever_server_it_was_mounted(self) -> None:
        text = sample("gluster-volume-info.distribute.txt")
        [one, other] = (
            identity(
                plain(f"fuse.glusterfs {server}:/gv0 rw"),
                **{f"gluster --mode=script --remote-host={server} volume info gv0": text},
            )
            for server in ("g1", "g2")
        )
        assert one == other == ("gluster:9a533955-b55b-4a30-a5b1-a1b462656252", "shared")

    def test_older_client_shows_plain_fuse(self) -> None:
        facts = mount_facts(plain("fuse glusterfs#g1:/gv0 rw"), Recorded({}))
        assert str(facts["gluster.type"]).startswith("unavailable, because gluster is not installed")


class TestCeph:
    def test_cluster_and_file_system_of_a_fuse_client(self) -> None:
        facts = facts_of("ceph")
        assert (facts["ceph.osd_count"], facts["ceph.osd_up_count"]) == (3, 2)
        assert (facts["ceph.versions"], facts["ceph.data_pools"]) == ("16.2.15", "cdata")
        assert (facts["ceph.stripe_unit_bytes"], facts["ceph.object_bytes"]) == (4194304, 4194304)
        assert facts["fs.identity"] == "ceph:4bf5a97d-505a-418b-abf9-39c69eb603ab:cfs"

    def test_kernel_client_of_the_same_reports_the_same(self) -> None:
        named = mount_at("/mnt/cephn", "mountinfo.made.txt")
        assert mount_facts(named, Recorded({}))["fs.identity"] == facts_of("ceph")["fs.identity"]
        by_monitors = mount_at("/mnt/cephk", "mountinfo.made.txt")
        facts = mount_facts(by_monitors, Recorded(RECORDINGS["ceph"].texts | ethernet("10.1.0.1")))
        assert facts["fs.identity"] == facts_of("ceph")["fs.identity"]
        assert facts["network.link_bits_per_second"] == 10 * 10**9

    def test_fuse_client_that_cannot_ask_has_no_identity_and_is_shared(self) -> None:
        assert identity(mount_at("/mnt/ceph", "mountinfo.ceph-fuse.txt")) == (None, "shared")


class TestBeegfs:
    def test_pattern_and_settings(self) -> None:
        facts = facts_of("beegfs")
        assert (facts["beegfs.pattern"], facts["beegfs.chunk_bytes"], facts["beegfs.target_count"]) == (
            "RAID0",
            524288,
            4,
        )
        assert (facts["beegfs.file_cache"], facts["beegfs.rdma"]) == ("buffered", True)
        assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("beegfs:10.0.0.8:8008", "shared")

    def test_two_clients_of_one_node_differ_by_their_configuration(self) -> None:
        other = RECORDINGS["beegfs"].texts["/proc/fs/beegfs/5C-1/config"].replace("-client.conf", "-2.conf")
        texts = {"/proc/fs/beegfs": "5B-1\n5C-1", "/proc/fs/beegfs/5B-1/config": other.replace("bee1", "bee2")}
        assert facts_of("beegfs", **texts)["network.server"] == "bee1"


class TestFuse:
    def test_moosefs_is_recognised_by_its_source(self) -> None:
        facts = facts_of("moosefs")
        assert (facts["fuse.file_system"], facts["moosefs.master"], facts["moosefs.goal"]) == (
            "mfs",
            "mfsmaster:9421",
            2,
        )
        assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("moosefs:mfsmaster:9421/", "shared")

    def test_sshfs_is_known_by_host_and_directory(self) -> None:
        assert identity(plain("fuse.sshfs me@host:/data rw")) == ("sshfs:host:/data", "shared")
        assert identity(plain("fuse sshfs#you@host:/data rw")) == ("sshfs:host:/data", "shared")
        assert identity(mount_at("/mnt/sshfs", "mountinfo.sshfs.txt"))[1] == "node"

    def test_limits_of_the_connection(self) -> None:
        texts = {"/sys/fs/fuse/connections/47/max_background": "12\n", "/sys/class/bdi/0:47/read_ahead_kb": "128\n"}
        facts = mount_facts(mount_at("/mnt/sshfs", "mountinfo.sshfs.txt"), Recorded(texts))
        assert (facts["fuse.max_background"], facts["fuse.read_ahead_bytes"]) == (12, 131072)


class TestUnknown:
    def test_unknown_type_gets_the_generic_facts(self) -> None:
        facts = mount_facts(mount_at("/mnt/strange", "mountinfo.made.txt"), Recorded({}))
        assert facts == {"mount.fstype": "novelfs", "mount.options": "relatime,rw", "fs.identity_scope": "node"}

    def test_unknown_type_with_a_server_in_its_source_is_shared(self) -> None:
        assert identity(mount_at("/mnt/cifs", "mountinfo.made.txt")) == ("cifs://nas/bench", "shared")

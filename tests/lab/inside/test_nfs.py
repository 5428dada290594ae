"""NFS with a real server and two clients: facts, concurrent runs, and the fate of runs when the server fails."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent.order_rig import eventually
from lab.agents import Job
from lab.inside.nfs_server import ADDRESS, CLIENTS, MAX_BLOCK_BYTES, NfsServer, mounted_on, nfs_server
from lab.inside.volumes import MOUNT_POINT
from lab.nodes import JOBS, Node, assert_declined, assert_measured, highest

from iotide_wire.messages import Outcome
from iotide_wire.units import MIB


@pytest.fixture(scope="module")
def server() -> Iterator[NfsServer]:
    with nfs_server() as started:
        yield started


@pytest.mark.parametrize("version", ["3", "4.2"])
def test_two_clients_at_once(version: str, server: NfsServer, make_node: Callable[..., Node]) -> None:
    del server
    with ExitStack() as stack:
        nodes = [make_node(stack.enter_context(mounted_on(client, version)), client) for client in CLIENTS]
        errands = [node.start() for node in nodes]
        for started in errands:
            started.until_prepared()
        for started in errands:
            started.release()
        answers = [started.answer() for started in errands]
        for answer in answers:
            assert_measured(answer)
            assert highest(answer.results[0], "nfs_write_bytes_per_second") > 0
            facts = answer.mount.facts
            assert (facts["fs.identity"], facts["fs.identity_scope"]) == (f"nfs:{ADDRESS}:{MOUNT_POINT}", "shared")
            assert (facts["nfs.version"], facts["nfs.transport"], facts["nfs.hard"]) == (version, "tcp", True)
            assert (facts["nfs.rsize_bytes"], facts["nfs.wsize_bytes"]) == (MAX_BLOCK_BYTES, MAX_BLOCK_BYTES)
            assert f"rsize={MAX_BLOCK_BYTES}" in answer.mount.mount_options.split(",")
            assert (facts["network.server"], facts["network.interface"]) == (ADDRESS, "eth0")
        first, second = (answer.results[0].steps[0] for answer in answers)
        assert abs((first.started_at - second.started_at).total_seconds()) < max(
            first.wall_seconds, second.wall_seconds
        )
        assert list(MOUNT_POINT.iterdir()) == []
        assert [node.files() for node in nodes] == [[], []]


def test_server_reports_the_geometry_below_its_export(server: NfsServer, make_node: Callable[..., Node]) -> None:
    del server
    facts = make_node(MOUNT_POINT).look().mount.facts
    assert (facts["device.stack"], facts["md.level"]) == ("md raid5 / 3 x disk", "raid5")
    assert (facts["xfs.stripe_unit_bytes"], facts["xfs.stripe_width_bytes"]) == (65536, 131072)
    assert (facts["fs.stripe_fits_device"], facts["fs.identity_scope"]) == (True, "node")


@pytest.mark.parametrize("version", ["3", "4.2"])
def test_unmounted_export_is_refused_and_not_measured_on_the_root_disk(
    version: str, server: NfsServer, make_node: Callable[..., Node]
) -> None:
    del server
    with mounted_on(CLIENTS[0], version) as mount_point:
        node = make_node(mount_point, CLIENTS[0])
        target = node.look().target
        node.unmount()
        assert_declined(node.run(JOBS[:1], target=target), "wrong_mount")
        assert node.files() == []


def test_run_ends_if_its_server_stops_and_its_files_are_removed_when_the_server_is_back(
    server: NfsServer, make_node: Callable[..., Node]
) -> None:
    with mounted_on(CLIENTS[0], "4.2") as mount_point:
        node = make_node(mount_point, CLIENTS[0])
        # Without many dirty pages, which would throttle a server that shares its memory with the client.
        large = Job("dd", {"file_size_bytes": 1024 * MIB, "block_size_bytes": MIB, "flush": "dsync"})
        started = node.start([large], time_limit_seconds=15.0).until_prepared().release()
        eventually(lambda: _written_bytes() >= 8 * MIB, limit_seconds=30)
        server.stop()
        try:
            answer = started.answer()
        finally:
            server.start()
        [result] = answer.results
        assert result.outcome is Outcome.FAILED
        assert result.reason_code in {"time_limit", "stuck"}
        assert answer.leftovers == 1
        assert node.look().leftovers == 0
        assert node.files() == []


def test_dead_mount_keeps_no_agent_from_starting_and_its_orders_are_declined(
    server: NfsServer, make_node: Callable[..., Node]
) -> None:
    with mounted_on(CLIENTS[0], "3") as mount_point:
        node = make_node(mount_point, CLIENTS[0])
        server.stop()
        try:
            answer = node.run(JOBS[:1])
        finally:
            server.start()
        assert "gave no answer" in str(answer.mount.facts["mount.space"])
        assert_declined(answer, "target_hangs")
        assert node.look().leftovers == 0
        assert node.files() == []


def test_stale_handle_is_reported_and_a_new_mount_fixes_it(server: NfsServer, make_node: Callable[..., Node]) -> None:
    with mounted_on(CLIENTS[0], "3") as mount_point:
        node = make_node(mount_point, CLIENTS[0])
        assert_measured(node.run(JOBS[:1]))
        server.replace_export()
        answer = node.run(JOBS[:1])
        assert "Stale file handle" in str(answer.mount.facts["mount.space"])
        assert answer.results[0].outcome is Outcome.DECLINED
        assert "Stale file handle" in str(answer.results[0].reason)
        node.unmount()
    with mounted_on(CLIENTS[0], "3"):
        assert_measured(node.run(JOBS[:1]))


def _written_bytes() -> int:
    """Return the bytes of runs on the server's side; a listing there sends no request to a server."""
    return sum(file.stat().st_size for file in Path(MOUNT_POINT).glob("iotide-run-*/*"))

"""Real MPICH over two nodes of one machine: one program, one shared file, and nothing alive after any death."""

import os
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from agent.mpi.gang_rig import PROXY, Gang, GangNode
from agent.order_rig import eventually

from iotide_agent.runner import processes

BLOCK_BYTES = 65_536
RANKS = 4
LIMIT_SECONDS = 3.0


def expected(blocks: int) -> bytes:
    return b"".join(
        bytes([ord("a") + (7 * rank + number) % 26]) * BLOCK_BYTES for number in range(blocks) for rank in range(RANKS)
    )


def test_four_ranks_on_two_nodes_write_one_file_together(gang: Gang, writes_by_rank: str, tmp_path: Path) -> None:
    member = gang.member()
    head = gang.head(member.said()["port"], [writes_by_rank, str(tmp_path / "shared"), "16"])
    assert head.ended() == {"code": None, "status": 0, "left_over": {"n2": 0}, "refused": {}}
    assert member.ended() == {"code": None, "statuses": [0], "refused": {}, "strangers": {}, "left_over": 0}
    assert head.output("000-mpi.stdout") == f"ranks=4 bytes={16 * RANKS * BLOCK_BYTES}\n"
    assert (tmp_path / "shared").read_bytes() == expected(16)
    assert sorted(made.name for made in (head.directory / "scratch").iterdir()) == ["remote-start"]
    assert list((member.directory / "scratch").iterdir()) == []


def waiting(gang: Gang, program: str, file: Path) -> tuple[GangNode, GangNode]:
    """Return head and member of a run whose four ranks wait for a signal."""
    member = gang.member()
    head = gang.head(member.said()["port"], [program, str(file), "2", "wait"])
    eventually(lambda: "all ranks wait" in head.output("000-mpi.stderr"))
    return head, member


def below(node: GangNode, name: str) -> list[int]:
    """Return the processes of that name of a node's run."""
    return [stat.pid for stat in processes.descendants(node.process.pid) if stat.name == name]


def first_of(name: str, *, of_head: bool) -> Callable[[GangNode, GangNode], int]:
    return lambda head, member: below(head if of_head else member, name)[0]


VICTIMS: dict[str, Callable[[GangNode, GangNode], int]] = {
    "rank_of_the_head": first_of("writes_by_rank", of_head=True),
    "rank_of_the_member": first_of("writes_by_rank", of_head=False),
    "proxy_of_the_head": first_of("hydra_pmi_proxy", of_head=True),
    "proxy_of_the_member": first_of("hydra_pmi_proxy", of_head=False),
    "launcher": first_of("mpiexec.hydra", of_head=True),
    "remote_start": first_of("remote-start", of_head=True),
    "runner_of_the_head": lambda head, _: head.process.pid,
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_lives_three_seconds_after_a_death(
    gang: Gang, writes_by_rank: str, tmp_path: Path, victim: str
) -> None:
    head, member = waiting(gang, writes_by_rank, tmp_path / "shared")
    started = {
        (stat.pid, stat.start_ticks) for node in (head, member) for stat in processes.descendants(node.process.pid)
    }
    assert len([pid for node in (head, member) for pid in below(node, "writes_by_rank")]) == RANKS
    os.kill(VICTIMS[victim](head, member), signal.SIGKILL)
    killed_at = time.monotonic()
    if victim == "runner_of_the_head":
        # The aftermath of that node ends its own ranks: tests/agent/runner. The member must not wait for it.
        started = {one for one in started if one[0] in {stat.pid for stat in processes.descendants(member.process.pid)}}
        assert member.ended()["code"] == "head_lost"
    else:
        ending = head.ended()
        assert (ending["code"], ending["status"]) != (None, 0), "a killed part is no success"
        member.ended()
    eventually(lambda: not any(processes.is_alive(*one) for one in started), LIMIT_SECONDS)
    assert time.monotonic() - killed_at < LIMIT_SECONDS


def test_bytes_of_a_stranger_at_the_launchers_port_end_the_run_as_failed(
    gang: Gang, writes_by_rank: str, tmp_path: Path
) -> None:
    head, member = waiting(gang, writes_by_rank, tmp_path / "shared")
    started = {
        (stat.pid, stat.start_ticks) for node in (head, member) for stat in processes.descendants(node.process.pid)
    }
    (proxy,) = below(member, "hydra_pmi_proxy")
    words = Path(f"/proc/{proxy}/cmdline").read_text().split("\0")
    host, _, port = words[words.index("--control-port") + 1].partition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"HYD\0" + struct.pack("<II", 0, 1))
        ending = head.ended()
        stranger.settimeout(1.0)
        said = received(stranger)
    assert (ending["code"], ending["status"]) != (None, 0)
    assert gang.token.encode() not in said
    member.ended()
    eventually(lambda: not any(processes.is_alive(*one) for one in started), LIMIT_SECONDS)


def received(connection: socket.socket) -> bytes:
    """Return what comes until the end of the connection."""
    data = b""
    with suppress(OSError):
        while more := connection.recv(65_536):
            data += more
    return data


def test_a_member_of_a_frozen_head_ends_its_part(gang: Gang, writes_by_rank: str, tmp_path: Path) -> None:
    head, member = waiting(gang, writes_by_rank, tmp_path / "shared")
    started = {(stat.pid, stat.start_ticks) for stat in processes.descendants(member.process.pid)}
    head.process.send_signal(signal.SIGSTOP)
    ending = member.ended()
    assert (ending["code"], "silent for" in ending["reason"]) == ("head_lost", True)
    assert not any(processes.is_alive(*one) for one in started)


def test_the_ranks_of_both_nodes_have_the_environment_of_their_own_node(
    gang: Gang, writes_by_rank: str, tmp_path: Path
) -> None:
    head, member = waiting(gang, writes_by_rank, tmp_path / "shared")
    for node in (head, member):
        (pid, _) = below(node, "writes_by_rank")
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert f"TMPDIR={node.directory / 'scratch'}".encode() in environment
        assert b"UCX_NET_DEVICES=lo" in environment
        assert not any(variable.startswith((b"USER=", b"SHELL=", b"IOTIDE_AGENT")) for variable in environment)


def test_a_proxy_that_this_node_does_not_allow_is_not_started(gang: Gang, writes_by_rank: str, tmp_path: Path) -> None:
    member = gang.member(programs=["/opt/mpich/bin/hydra_pmi_proxy"])
    head = gang.head(member.said()["port"], [writes_by_rank, str(tmp_path / "shared"), "2"])
    ending = head.ended()
    assert (ending["code"], ending["refused"]) == ("start_refused", {"program": 1})
    assert f"node n2: {PROXY} is not in `programs` of [mpi]" in ending["reason"]
    member.ended()


def test_a_head_that_the_member_does_not_know_is_refused(gang: Gang, writes_by_rank: str, tmp_path: Path) -> None:
    member = gang.member(head_names=["10.1.0.9"])
    head = gang.head(member.said()["port"], [writes_by_rank, str(tmp_path / "shared"), "2"])
    assert head.ended()["refused"] == {"control_address": 1}
    assert member.ended()["refused"] == {"control_address": 1}


def test_a_head_without_the_token_reaches_nothing(gang: Gang, writes_by_rank: str, tmp_path: Path) -> None:
    member = gang.member()
    head = gang.head(
        member.said()["port"], [writes_by_rank, str(tmp_path / "shared"), "2"], token="0" * 32, gather_seconds=1.0
    )
    ending = head.ended()
    assert ending["code"] == "member_unreachable"
    assert "allow TCP from this node in its firewall" in ending["reason"]
    assert not (tmp_path / "shared").exists()

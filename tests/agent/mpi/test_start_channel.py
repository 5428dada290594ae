"""Start channel on real sockets: only the head with the token starts anything, and strangers disturb nothing."""

import errno
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from iotide_agent.mpi import channel as channels
from iotide_agent.mpi import gate as gates
from iotide_agent.mpi import greeting
from iotide_agent.mpi import head as heads
from iotide_agent.mpi import member as members
from iotide_agent.mpi.addresses import MemberAddress
from iotide_agent.mpi.channel import Channel
from iotide_agent.mpi.desk import MOST_CALLERS, Caller
from iotide_agent.mpi.frames import FrameError, Frames, framed
from iotide_agent.mpi.greeting import Nonces
from iotide_agent.mpi.groups import HeadGroups
from iotide_agent.mpi.head import Head
from iotide_agent.mpi.member import MOST_PARTS, Gathering, Member
from iotide_agent.mpi.messages import Words
from iotide_agent.mpi.remote_commands import Allowance
from iotide_agent.mpi.remote_start import ENDED, HERE, REFUSED
from iotide_agent.runner import processes
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.groups import Groups
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.sockets import Sockets
from iotide_agent.workloads.iozone_options import TESTS, IozoneOptions
from iotide_wire.messages import MOST_GANG_NODES

TOKEN, OTHER = "a1" * 16, "b2" * 16
HEAD = "127.0.0.1"
LIMIT_SECONDS = 10.0


class Site:
    """A member with one allowed program, in this process; the head's end is driven by the same loop."""

    def __init__(self, base: Path) -> None:
        self.loop = Loop()
        self.program = base / "hydra_pmi_proxy"
        self.program.write_text(f"#!{sys.executable} -IS\nimport time\ntime.sleep(100)\n")
        self.program.chmod(0o700)
        (base / "out").mkdir()
        around = Surroundings(base, base / "out", 1024, 5.0, (), {"PATH": os.defpath}, Sockets())
        self.member = Member(self.loop, Gathering(HEAD, TOKEN, Allowance((str(self.program),), (HEAD,))))
        self.port = self.member.gate.port
        self.heard: list[dict[str, Any]] = []

        def start(argv: Sequence[str]) -> Load:
            return Load(StepCard("mpi", tuple(argv), "none", ()), "none", len(self.member.loads), around, 0.0)

        self.start = start
        self.connections: list[socket.socket] = []
        self.head: Head | None = None

    def turn(self, is_so: Callable[[], object]) -> None:
        """Run the loop until the condition is true."""
        until = processes.boottime() + LIMIT_SECONDS
        while not is_so():
            assert processes.boottime() < until
            self.loop.turn(processes.boottime() + 0.01)

    def connect(self, said: bytes = b"") -> socket.socket:
        connection = socket.create_connection((HEAD, self.port))
        self.connections.append(connection)
        if said:
            connection.sendall(said)
        return connection

    def gathered(self, base: Path) -> Head:
        self.head = Head(self.loop, [MemberAddress("n2", HEAD, self.port, TOKEN)], base)
        self.head.gather(processes.boottime() + LIMIT_SECONDS, lambda: None)
        return self.head

    def channel(self) -> Channel:
        """Return the head's end of an established channel."""
        connection = self.connect()
        nonces = self.answer(connection)
        self.turn(lambda: self.member.gate.channel)
        keys = greeting.keys(TOKEN, nonces)
        greeting.check_welcome(TOKEN, nonces, connection.recv(greeting.PROOF_BYTES))
        channel = Channel(self.loop, connection, keys.from_head, keys.from_member, self._take)
        self.turn(lambda: self.member.gate.channel and self.member.gate.channel.is_proved)
        return channel

    def answer(self, connection: socket.socket, token: str = TOKEN) -> Nonces:
        """Answer the member's challenge as a head with this token does."""
        self.turn(lambda: len(self.member.gate._pending) > 0)
        nonce = greeting.challenged(connection.recv(greeting.CHALLENGE_BYTES))
        nonces = Nonces(nonce, os.urandom(greeting.NONCE_BYTES))
        connection.sendall(greeting.answer(token, nonces))
        return nonces

    def ask(self, channel: Channel, *words: str, part: int = 0, step: int = 0) -> dict[str, Any]:
        """Return the answer to a start request."""
        before = len(self.heard)
        channel.send({"kind": "start", "step": step, "part": part, "words": ["n2", *words]})
        self.turn(lambda: len(self.heard) > before)
        return self.heard[before]

    def proxy(self, address: str = HEAD) -> tuple[str, ...]:
        return (f'"{self.program}"', "--control-port", f"{address}:46000")

    def close(self) -> None:
        for part in [*self.member._parts.values()]:
            os.killpg(part.load.pid, signal.SIGKILL)
            self.turn(part.load.reap)
        for load in self.member.loads:
            load.unwatch(self.loop)
            load.close()
        if self.head is not None:
            self.head.close()
        self.member.close()
        for connection in self.connections:
            connection.close()

    def _take(self, words: Words) -> None:
        self.heard.append(dict(words))


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    # A member kills all descendants of its own process, which is that of all tests here.
    monkeypatch.setattr(processes, "descendants", lambda _: [])
    made = Site(tmp_path)
    made.member.begin_step(0, made.start)
    yield made
    made.close()


def test_the_token_is_on_no_wire(site: Site) -> None:
    connection = site.connect()
    site.turn(lambda: site.member.gate._pending)
    said = connection.recv(greeting.CHALLENGE_BYTES)
    nonces = Nonces(greeting.challenged(said), os.urandom(greeting.NONCE_BYTES))
    answer = greeting.answer(TOKEN, nonces)
    connection.sendall(answer)
    site.turn(lambda: site.member.gate.channel)
    said += answer + connection.recv(greeting.PROOF_BYTES)
    assert bytes.fromhex(TOKEN) not in said
    assert TOKEN.encode() not in said


def test_a_head_with_another_token_is_refused_and_counted(site: Site) -> None:
    connection = site.connect()
    site.answer(connection, OTHER)
    site.turn(lambda: site.member.gate.refused)
    assert site.member.gate.refused == {"junk": 1}
    assert is_closed(connection)
    assert site.ask(site.channel(), *site.proxy())["kind"] == "started"


def test_a_recorded_greeting_opens_nothing_later(site: Site) -> None:
    connection = site.connect()
    site.turn(lambda: site.member.gate._pending)
    nonces = Nonces(greeting.challenged(connection.recv(greeting.CHALLENGE_BYTES)), os.urandom(greeting.NONCE_BYTES))
    recorded = greeting.answer(TOKEN, nonces)
    site.connect(recorded)
    site.turn(lambda: site.member.gate.refused)
    assert site.member.gate.refused == {"junk": 1}
    assert site.member.gate.channel is None


def test_a_second_head_is_refused_and_the_first_one_keeps_its_part(site: Site) -> None:
    channel = site.channel()
    assert site.ask(channel, *site.proxy())["kind"] == "started"
    second = site.connect()
    site.answer(second)
    site.turn(lambda: site.member.gate.refused)
    assert site.member.gate.refused == {"second_head": 1}
    assert is_closed(second)
    assert (channel.lost, len(site.member._parts)) == (None, 1)


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.0\r\n\r\n" + b"x" * 200,
        b"\xff" * 4096,
        struct.pack("!I", 2**32 - 1) + b"x" * 100,
        b"HYD\0" + bytes(8),
        b"SSH-2.0-x\r\n",
        b"",
    ],
)
def test_strangers_who_come_first_neither_keep_the_head_out_nor_end_its_run(
    site: Site, said: bytes, tmp_path: Path
) -> None:
    strangers = [site.connect(said) for _ in range(5)]
    site.turn(lambda: len(site.member.gate._pending) + sum(site.member.gate.refused.values()) == len(strangers))
    head = site.gathered(tmp_path)
    for stranger in strangers:
        stranger.close()
    site.turn(lambda: sum(site.member.gate.refused.values()) == len(strangers))
    head.check()
    assert not site.member.is_over()


def test_an_unfinished_greeting_ends_at_its_deadline(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = site.connect(b"x" * 30)
    site.turn(lambda: site.member.gate._pending)
    now = processes.boottime()
    monkeypatch.setattr(gates, "boottime", lambda: now + gates.GREETING_SECONDS)
    site.member.gate._end_silent()
    assert site.member.gate.refused == {"silent": 1}
    assert len(stranger.recv(100)) == greeting.CHALLENGE_BYTES
    assert is_closed(stranger)


def test_more_unfinished_greetings_than_the_limit_end_the_oldest(site: Site, tmp_path: Path) -> None:
    for _ in range(gates.MOST_PENDING + 3):
        site.connect()
        site.loop.turn(processes.boottime() + 0.01)
    site.turn(lambda: site.member.gate.refused)
    assert site.member.gate.refused == {"crowded": 3}
    site.gathered(tmp_path)
    assert site.member.gate.refused == {"crowded": 4}


def test_a_head_of_another_token_gets_the_port_and_the_remedy(site: Site, tmp_path: Path) -> None:
    site.head = Head(site.loop, [MemberAddress("n2", HEAD, site.port, OTHER)], tmp_path)
    with pytest.raises(RunEndedError, match=f"node n2 does not answer at {HEAD} port {site.port}") as ended:
        site.head.gather(processes.boottime() + 0.5, lambda: None)
    assert ended.value.code == "member_unreachable"


def test_a_member_that_does_not_know_the_token_is_no_member(tmp_path: Path) -> None:
    loop = Loop()
    with socket.create_server((HEAD, 0)) as other:
        other.setblocking(False)
        head = Head(loop, [MemberAddress("n2", HEAD, other.getsockname()[1], TOKEN)], tmp_path)
        accepted: list[socket.socket] = []

        def greet() -> None:
            connection, _ = other.accept()
            connection.sendall(greeting.challenge(bytes(greeting.NONCE_BYTES)) + bytes(greeting.PROOF_BYTES))
            accepted.append(connection)

        loop.watch(other.fileno(), greet)
        with pytest.raises(RunEndedError, match="does not know the token"):
            head.gather(processes.boottime() + 0.5, lambda: None)
        head.close()
        for connection in accepted:
            connection.close()


def test_another_program_or_another_head_is_refused_and_what_runs_goes_on(site: Site) -> None:
    channel = site.channel()
    assert site.ask(channel, *site.proxy(), part=1)["kind"] == "started"
    for words, refusal in (
        (("/bin/sh", "-c", "id"), "program"),
        (site.proxy("10.1.0.9"), "control_address"),
        ((*site.proxy(), "$(id)"), "statement"),
        (site.proxy(), "busy"),
    ):
        answer = site.ask(channel, *words, part=2)
        assert (answer["kind"], answer["refusal"]) == ("refused", refusal)
    assert site.member.refused == {"program": 1, "control_address": 1, "statement": 1, "busy": 1}
    assert len(site.member._parts) == 1


def test_a_request_of_an_ended_step_is_refused_and_one_of_the_next_step_waits_for_it(site: Site) -> None:
    channel = site.channel()
    channel.send({"kind": "over", "step": 0})
    site.turn(site.member.is_over)
    site.member.end_step(1.0)
    channel.send({"kind": "start", "step": 1, "part": 7, "words": ["n2", *site.proxy()]})
    site.turn(lambda: site.member._early)
    assert site.member._parts == {}, "its caches are still being dropped"
    site.member.begin_step(1, site.start)
    site.turn(lambda: any(words["kind"] == "started" for words in site.heard))
    assert site.ask(channel, *site.proxy(), part=8, step=0)["refusal"] == "step"


def test_the_end_of_the_channel_ends_the_run_of_the_member(site: Site) -> None:
    channel = site.channel()
    site.ask(channel, *site.proxy())
    channel.close()
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    with pytest.raises(RunEndedError, match="closed by the other end") as ended:
        site.member.is_over()
    assert ended.value.code == "head_lost"


def test_silence_ends_the_channel_at_both_ends(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = site.channel()
    now = processes.boottime()
    monkeypatch.setattr(channels, "boottime", lambda: now + channels.SILENCE_SECONDS)
    channel._send_heartbeat()
    assert channel.lost == f"silent for {channels.SILENCE_SECONDS:.0f} s"
    of_member = site.member.gate.channel
    assert of_member is not None
    of_member._send_heartbeat()
    assert of_member.lost == channel.lost


def test_heartbeats_keep_an_idle_channel_open_and_the_longest_silence_is_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = site.channel()
    now = processes.boottime()
    later = [now]
    of_member = site.member.gate.channel
    assert of_member is not None
    site.turn(lambda: channel._received > 0)
    monkeypatch.setattr(channels, "boottime", lambda: later[0])
    for seconds in (3.0, 6.0, 9.0):
        later[0] = now + seconds
        of_member.send({"kind": "heartbeat"})
        site.turn(partial(lambda before: channel._received > before, channel._received))
    channel._send_heartbeat()
    assert channel.lost is None
    assert channel.longest_silence_seconds == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("frame", [b"x" * 40, b"", bytes(32) + b'{"kind": "over", "step": 0}'])
def test_a_message_without_its_keyed_hash_ends_the_channel(site: Site, frame: bytes) -> None:
    channel = site.channel()
    channel._waiting += framed(frame)
    channel._flush()
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    assert site.member.gate.channel is not None
    assert site.member.gate.channel.lost == "a message that the other end did not send"
    assert site.member._is_over is False


def test_a_repeated_message_ends_the_channel(site: Site) -> None:
    channel = site.channel()
    site.ask(channel, *site.proxy())
    channel._sent -= 1
    channel.send({"kind": "start", "step": 0, "part": 0, "words": ["n2", *site.proxy()]})
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    assert len(site.member.loads) == 1


def test_frames_are_cut_at_any_byte_and_longer_ones_are_not_read() -> None:
    frames, stream = Frames(10), framed(b"one") + framed(b"") + framed(b"three")
    assert [found for byte in stream for found in frames.take(bytes([byte]))] == [b"one", b"", b"three"]
    with pytest.raises(FrameError, match="the limit is 10"):
        frames.take(struct.pack("!I", 11))


def test_who_knows_the_token_but_is_outside_the_networks_of_agent_toml_gets_no_answer(site: Site) -> None:
    """The server knows the token, too."""
    site.member.gate._heads = ("10.1.0.0/24",)
    stranger = site.connect()
    site.turn(lambda: site.member.gate.refused)
    assert site.member.gate.refused == {"network": 1}
    assert is_closed(stranger)
    site.member.gate._heads = ("10.1.0.0/24", f"{HEAD}/32")
    assert site.ask(site.channel(), *site.proxy())["kind"] == "started"


def test_a_head_that_does_not_connect_ends_the_run_with_the_remedy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not site.member.is_over()
    now = processes.boottime()
    monkeypatch.setattr(members, "boottime", lambda: now + members.HEAD_SECONDS)
    with pytest.raises(RunEndedError, match=f"port {site.port} within 60 s; allow TCP") as ended:
        site.member.is_over()
    assert ended.value.code == "head_missing"


class AskedHead:
    """A head with one part on the member, which serves in the same loop."""

    def __init__(self, site: Site, base: Path) -> None:
        self.head = site.gathered(base)
        self.head.begin_step(0)
        own, self.program = socket.socketpair(socket.AF_UNIX)
        self.caller = Caller(own)
        self.head._ask(self.caller, [HEAD, *site.proxy()])
        site.turn(lambda: site.member._parts)
        (self.part,) = site.member._parts.values()

        def serve() -> float:
            if site.member._is_over and site.member._step is not None:
                site.member.end_step(5.0)
            return processes.boottime() + 0.01

        site.loop.every(serve, "member")

    def close(self) -> None:
        self.caller.connection.close()
        self.program.close()


@pytest.fixture
def asked_head(site: Site, tmp_path: Path) -> Iterator[AskedHead]:
    made = AskedHead(site, tmp_path)
    yield made
    made.close()


def test_a_head_starts_an_allowed_part_for_its_own_node_and_no_other_program(site: Site, tmp_path: Path) -> None:
    """IOzone asks its remote shell for the processes of its own node, too."""
    own = Allowance(("/usr/bin/iozone",), ("n1", HEAD, "head.lab"))
    site.head = Head(site.loop, [MemberAddress("n2", "127.0.0.2", site.port, TOKEN)], tmp_path, own=own)
    for words, answer in (
        (
            ("-n", "/usr/bin/iozone -+s -t 1 -+c head.lab "),
            bytes((HERE,)) + b"/usr/bin/iozone\0-+s\0-t\0001\0-+c\0head.lab",
        ),
        (("-n", "/usr/bin/iozone -+s -t 1 -+c 10.1.0.9 "), None),
        (("/bin/sh", "-c", "id"), None),
    ):
        ours, program = socket.socketpair(socket.AF_UNIX)
        with ours, program:
            site.head._ask(Caller(ours), [HEAD, *words])
            said = program.recv(1000)[4:]
        assert said == answer if answer else said[0] == REFUSED
    assert site.head.refused == {"control_address": 1, "program": 1}


class Refusing:
    """Channel to a member that refuses and leaves, or to one that says nothing."""

    def __init__(self, head: Head, link: heads._Link, *, refuses: bool) -> None:
        self.lost: str | None = None
        self._head, self._link, self._refuses = head, link, refuses

    def send(self, words: Words) -> None:
        del words
        if self._refuses:
            self._head._take(self._link, {"kind": "unshared", "code": "other_user", "reason": "of another user"})
            self.lost = "closed by the other end"

    def close(self) -> None:
        pass


def test_a_refusal_is_known_before_the_member_that_refused_counts_as_lost(tmp_path: Path) -> None:
    addresses = [MemberAddress(f"n{number}", f"127.0.0.{number}", 20_000, TOKEN) for number in (2, 3)]
    head = Head(Loop(), addresses, tmp_path)
    for link, refuses in zip(head._links, (False, True), strict=True):
        link.channel = Refusing(head, link, refuses=refuses)  # type: ignore[assignment]
    answers = head.ask(processes.boottime() + LIMIT_SECONDS, lambda: None, kind="look")
    assert {node: words["code"] for node, words in answers.items()} == {"n3": "other_user"}
    head.close()


def test_a_part_that_was_killed_is_a_failure_even_if_the_launcher_ends_well(site: Site, asked_head: AskedHead) -> None:
    os.killpg(asked_head.part.load.pid, signal.SIGKILL)
    site.turn(lambda: asked_head.head._failure)
    assert asked_head.program.recv(100) == framed(bytes((ENDED, 128 + signal.SIGKILL)))
    with pytest.raises(RunEndedError, match="was ended by signal 9, but the launcher ended with status 0") as ended:
        asked_head.head.end_step(lambda: None)
    assert ended.value.code == "part_ended"


def test_a_launcher_that_runs_on_after_the_end_of_a_part_is_ended(
    site: Site, asked_head: AskedHead, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.killpg(asked_head.part.load.pid, signal.SIGKILL)
    site.turn(lambda: asked_head.head._first_end)
    asked_head.head.check()
    now = processes.boottime()
    monkeypatch.setattr(heads, "boottime", lambda: now + heads.EARLY_SECONDS)
    with pytest.raises(RunEndedError, match="but the launcher ran on"):
        asked_head.head.check()


def test_a_remote_start_program_that_was_ended_ends_its_part(site: Site, asked_head: AskedHead) -> None:
    asked_head.head._leave(asked_head.caller)
    site.turn(lambda: not site.member._parts)
    with pytest.raises(RunEndedError, match="the remote-start program of node n2 was ended"):
        asked_head.head.end_step(lambda: None)


def test_a_remote_start_program_that_ended_with_its_launcher_is_no_failure(site: Site, asked_head: AskedHead) -> None:
    launcher = subprocess.Popen([sys.executable, "-c", ""])
    asked_head.head.watch_launcher(launcher.pid, "")
    launcher.wait()
    asked_head.head._leave(asked_head.caller)

    def end_well() -> float:
        of_member = site.member.gate.channel
        if asked_head.head._is_ending and of_member is not None:
            assert not site.member._is_over, "the part has time to end"
            well = {"exit_status": 0, "signal": None, "failure": None}
            of_member.send({"kind": "ended", "part": 0, "left_over": 0, **well})
            site.loop.every(None, "part")
        return processes.boottime() + 0.01

    site.loop.every(end_well, "part")
    asked_head.head.end_step(lambda: None)


def test_a_part_that_runs_on_after_its_launcher_ended_well_is_a_failure(
    asked_head: AskedHead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "PARTING_SECONDS", 0.1)
    with pytest.raises(RunEndedError, match="the part on node n2 ran on, but the launcher ended with status 0"):
        asked_head.head.end_step(lambda: None)


def test_a_request_for_a_host_outside_the_run_ends_it(site: Site, asked_head: AskedHead) -> None:
    own, program = socket.socketpair(socket.AF_UNIX)
    with own, program:
        asked_head.head._ask(Caller(own), ["10.1.0.9", *site.proxy()])
        with pytest.raises(RunEndedError, match=r"10\.1\.0\.9 is no member of this run"):
            asked_head.head.check()


def test_a_member_bounds_the_parts_of_a_step(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide_agent.mpi.member.MOST_PARTS", 0)
    assert MOST_PARTS > 0
    assert site.ask(site.channel(), *site.proxy())["refusal"] == "busy"


def test_a_node_has_room_for_each_operation_of_as_many_processes_as_iozone_may_have() -> None:
    operations = sum(len(own) for _, own in TESTS.values())
    most = IozoneOptions.model_json_schema()["properties"]["processes"]["maximum"]
    assert most * operations <= MOST_PARTS


def test_the_desk_has_room_for_the_parts_of_all_nodes() -> None:
    assert MOST_CALLERS > MOST_GANG_NODES


def test_a_part_that_cannot_be_forked_is_refused_with_the_reason(site: Site) -> None:
    def fail(_: Sequence[str]) -> Load:
        raise OSError(errno.EMFILE, "Too many open files")

    site.member.begin_step(0, fail)
    answer = site.ask(site.channel(), *site.proxy())
    assert (answer["refusal"], "Too many open files" in answer["reason"]) == ("busy", True)


def test_a_head_that_asks_for_too_many_parts_of_the_next_step_is_lost(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "MOST_PARTS", 1)
    channel = site.channel()
    for part in range(2):
        channel.send({"kind": "start", "step": 1, "part": part, "words": ["n2", *site.proxy()]})
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    assert site.member.gate.channel is not None
    assert site.member.gate.channel.lost == "the head asks for too many parts"


def test_a_head_adds_its_host_name_and_no_further_address(site: Site) -> None:
    site.member.trust_name("10.1.0.9")
    site.member.trust_name("head.lab")
    assert site.member._allowance.head_names == (HEAD, "head.lab")


def test_a_request_before_the_first_step_starts_nothing_and_keeps_the_channel(site: Site, tmp_path: Path) -> None:
    head = site.gathered(tmp_path)
    ours, program = socket.socketpair(socket.AF_UNIX)
    with ours, program:
        head._ask(Caller(ours), [HEAD, *site.proxy()])
        assert program.recv(1000)[4] == REFUSED
    assert head.refused == {"step": 1}
    assert head._links[0].is_open


def test_a_launcher_that_started_nothing_on_a_member_fails_its_step(site: Site, tmp_path: Path) -> None:
    """Otherwise the program ran on the head alone, and the member waits for a part of this step for ever."""
    head = site.gathered(tmp_path)
    head.begin_step(0)

    def serve() -> float:
        if site.member._is_over and site.member._step is not None:
            site.member.end_step(5.0)
        return processes.boottime() + 0.01

    site.loop.every(serve, "member")
    with pytest.raises(RunEndedError, match="ended with status 0 without a part on node n2") as ended:
        head.end_step(lambda: None)
    assert ended.value.code == "part_missing"


def test_a_launcher_that_cannot_be_forked_leaves_the_record_of_the_step_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EAGAIN, "no process")

    around = Surroundings(tmp_path, tmp_path, 1024, 5.0, (), {}, Sockets())
    loop = Loop()
    groups = HeadGroups(loop, around, lambda _: MagicMock(), check=lambda: None, note=lambda _: None)
    head = Head(loop, [], tmp_path)
    groups.lead(head, None, "")
    groups.records.append({"name": "write", "argv": ["first"]})
    monkeypatch.setattr(Groups, "_run", fail)
    with pytest.raises(OSError, match="no process"):
        groups._run([StepCard("read", ("second",), "none", ())], ["none"], 0.0, 0.0)
    head.close()
    assert groups.records == [{"name": "write", "argv": ["first"]}]


def test_a_member_that_leaves_before_the_end_of_the_step_is_lost(site: Site, tmp_path: Path) -> None:
    head = site.gathered(tmp_path)
    head.begin_step(0)
    site.turn(lambda: site.member.gate.channel)
    site.member.end_step(1.0)
    site.member.close()
    site.turn(lambda: head._links[0].channel is not None and head._links[0].channel.lost)
    with pytest.raises(RunEndedError, match="the start channel to node n2 ended: closed by the other end") as ended:
        head.check()
    assert ended.value.code == "member_lost"


def early_start(site: Site) -> Channel:
    """Return the channel on which a start for the next step has arrived."""
    channel = site.channel()
    channel.send({"kind": "start", "step": 1, "part": 7, "words": ["n2", *site.proxy()]})
    site.turn(lambda: site.member._early)
    return channel


def test_a_part_whose_remote_start_program_ended_before_the_step_is_not_started(site: Site) -> None:
    early_start(site).send({"kind": "stop", "part": 7})
    site.turn(lambda: not site.member._early)
    site.member.begin_step(1, site.start)
    assert site.member.loads == []


def test_a_part_whose_head_was_lost_before_the_step_is_not_started(site: Site) -> None:
    early_start(site).close()
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    site.member.begin_step(1, site.start)
    assert site.member.loads == []


def test_a_step_that_ended_before_this_node_was_prepared_is_over(site: Site) -> None:
    channel = early_start(site)
    channel.send({"kind": "stop", "part": 7})
    channel.send({"kind": "over", "step": 1})
    site.turn(lambda: len(site.member._early) == 1 and site.member._early[0]["kind"] == "over")
    site.member.begin_step(1, site.start)
    assert site.member.is_over()


def test_a_head_whose_greeting_was_cut_at_its_end_may_come_again(site: Site, tmp_path: Path) -> None:
    cut = site.connect()
    site.answer(cut)
    cut.close()
    site.turn(lambda: not site.member.gate._pending)
    site.loop.turn(processes.boottime() + 0.01)
    assert not site.member.is_over()
    site.gathered(tmp_path).check()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"{}",
        b"[" * 60_000,
        b"\xff",
        b'{"kind": "start", "step": 0, "part": 0}',
        b'{"kind": "start", "step": 0, "part": [], "words": ["n2"]}',
        b'{"kind": "start", "step": 0, "part": 0, "words": [1]}',
        b'{"kind": "start", "step": "0", "part": 0, "words": []}',
        b'{"kind": ["over"], "step": 0}',
        b'{"kind": "ended", "part": 0, "left_over": 0, "exit_status": 300, "signal": null, "failure": null}',
        b'{"kind": "unshared", "code": "Not a code", "reason": ""}',
        b'{"kind": "share", "directories": [], "nonce": "", "host": "two words"}',
    ],
)
def test_a_message_of_another_form_ends_the_channel_and_not_the_runner(site: Site, message: bytes) -> None:
    channel = site.channel()
    channel._waiting += framed(channels._hash(channel._sending, channel._sent, message) + message)
    channel._flush()
    site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
    assert site.member.gate.channel is not None
    assert site.member.gate.channel.lost == "a message of an unknown form"


def test_processes_that_start_others_faster_than_they_are_killed_do_not_hold_the_member_for_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(2**22 + 1, 2**22 + 10_000))

    def born(_: int) -> list[processes.Stat]:
        return [processes.Stat(next(numbers), "fork", "R", 1, 1, 1, 1, is_thread=False)]

    monkeypatch.setattr(processes, "descendants", born)
    assert site.member._kill_all() < 1000


def test_a_part_whose_end_is_unknown_is_no_success_for_the_launcher(site: Site, asked_head: AskedHead) -> None:
    of_member = site.member.gate.channel
    assert of_member is not None
    unknown = {"exit_status": None, "signal": None, "failure": None}
    of_member.send({"kind": "ended", "part": 0, "left_over": 0, **unknown})
    site.turn(lambda: asked_head.head._failure)
    assert asked_head.program.recv(100) == framed(bytes((ENDED, 255)))


def test_a_closed_channel_is_closed_for_the_other_end_while_a_hanging_child_has_its_descriptor(site: Site) -> None:
    channel = site.channel()
    inherited = os.dup(channel._connection.fileno())
    try:
        channel.close()
        site.turn(lambda: site.member.gate.channel is not None and site.member.gate.channel.lost)
        assert site.member.gate.channel is not None
        assert site.member.gate.channel.lost == "closed by the other end"
    finally:
        os.close(inherited)


@pytest.mark.parametrize("token", ["", " ", "a1" * 15])
def test_a_token_that_could_be_guessed_opens_no_port(token: str) -> None:
    with pytest.raises(ValueError, match="a token of at least 16 bytes"):
        Member(Loop(), Gathering(HEAD, token, Allowance((), (HEAD,))))


class Streaming:
    """A connection whose other end writes faster than this one reads."""

    def __init__(self) -> None:
        self.own, self.other = socket.socketpair()
        self.reads = 0

    def recv(self, count: int) -> bytes:
        self.reads += 1
        assert self.reads < 1000
        return b"x" * count

    def __getattr__(self, name: str) -> object:
        return getattr(self.own, name)


def test_a_stranger_who_streams_does_not_keep_a_lost_channel_from_closing(site: Site) -> None:
    channel = site.channel()
    streaming = Streaming()
    own, channel._connection = channel._connection, streaming  # type: ignore[assignment]
    channel.close()
    site.loop.ignore(own.fileno())
    for connection in (own, streaming.own, streaming.other):
        connection.close()
    assert channel.lost == "closed here"


LAUNCHER = processes.Stat(2**22 + 1, "mpiexec.hydra", "S", 1, 1, 1, 1, is_thread=False)


@pytest.mark.parametrize(
    ("child", "seconds", "has_ended"),
    [
        (LAUNCHER._replace(pid=LAUNCHER.pid + 1, parent=LAUNCHER.pid), 2.0, False),
        (LAUNCHER._replace(pid=LAUNCHER.pid + 1, parent=LAUNCHER.pid), heads.STARTING_SECONDS, True),
        (LAUNCHER._replace(pid=LAUNCHER.pid + 1, parent=LAUNCHER.pid, name="remote-start"), 2.0, True),
    ],
)
def test_the_launchers_own_part_counts_as_ended_unless_its_program_is_still_being_read(
    asked_head: AskedHead,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    child: processes.Stat,
    seconds: float,
    *,
    has_ended: bool,
) -> None:
    site.turn(lambda: asked_head.head._first_start)
    now = processes.boottime()
    monkeypatch.setattr(heads, "boottime", lambda: now + seconds)
    monkeypatch.setattr(processes, "stat_of", lambda _: LAUNCHER)
    monkeypatch.setattr(processes, "descendants", lambda _: [child])
    asked_head.head.watch_launcher(LAUNCHER.pid, "hydra_pmi_proxy")
    site.loop.turn(0.0)
    assert (asked_head.head._first_end is not None) is has_ended

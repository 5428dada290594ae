"""Finding 12 of the security review: a full agent disk at the end of a run lost its result and gave a wrong reason."""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest
from agent.made_orders import make_order
from agent.node_rig import NodeRig
from made_mounts import FileSystem, made_mount

from iotide_agent.core.calls import Speaker
from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import ClaimUnanswered, RunnerEnded
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Transport
from iotide_agent.node.config import parse_config
from iotide_agent.node.host import disk_problem
from iotide_agent.node.readiness import State, examine
from iotide_agent.orders import collecting
from iotide_agent.runner.headroom import HEADROOM_BYTES, free_bytes
from iotide_agent.runner.headroom import NAME as HEADROOM
from iotide_agent.runner.processes import boottime
from iotide_wire.messages import ClaimRequest, FinishRequest, HeartbeatReply, HeartbeatRequest, Order, Outcome
from iotide_wire.units import MIB

DD: Final = {"file_size_bytes": 4 * MIB, "block_size_bytes": MIB, "operations": ["write"]}
STATE_DISK: Final = FileSystem("tmpfs", options=("mode=0700",), size_bytes=48 * MIB)
LIMIT_SECONDS: Final = 60.0
REFILL_SECONDS: Final = 2.0


class Flood:
    """Program that fills a disk, including space that becomes free, until it ends."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "flood"
        self._ends = threading.Event()
        self.has_filled = threading.Event()
        self._thread = threading.Thread(target=self._fill)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.has_filled.wait(LIMIT_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join()
        self._file.unlink()

    def _fill(self) -> None:
        with self._file.open("wb", buffering=0) as file:
            while not self._ends.wait(0.002):
                for size_bytes in (MIB, 4096):
                    with suppress(OSError):
                        while file.write(bytes(size_bytes)) == size_bytes:
                            pass
                self.has_filled.set()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    with made_mount(STATE_DISK, tmp_path / "state") as mount:
        yield mount.point
        mount.unmount("--lazy")  # the bell of a node is still open


@pytest.fixture
def target(tmp_path: Path) -> Path:
    directory = tmp_path / "target"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def node(state: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> NodeRig:
    monkeypatch.setattr(collecting, "ROOM_SECONDS", 0.05)
    return NodeRig(state, [target])


def until(is_so: Callable[[], bool], what: str) -> None:
    ends_at = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        assert time.monotonic() < ends_at, what
        time.sleep(0.05)


def require_whole(result: FinishRequest) -> None:
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert {sample.metric for sample in result.samples} == {"throughput", "duration"}
    assert [step.name for step in result.steps] == ["write"]
    assert "000-write.stderr" in {artefact.name for artefact in result.artefacts}


def test_the_space_reserved_before_the_run_suffices_for_its_result(node: NodeRig, state: Path, target: Path) -> None:
    order = node.order("dd", DD, target)
    node.begin(order)
    node.until_ready(order)
    ballast = state / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    node.release(order)
    result = node.finish(order)
    require_whole(result)
    assert list(target.iterdir()) == []
    ballast.unlink()


def test_a_result_waits_for_room_on_a_disk_that_stays_full_and_is_whole_then(
    node: NodeRig, state: Path, target: Path
) -> None:
    order = node.order("dd", DD, target)
    node.begin(order)
    node.until_ready(order)
    files = node.spool.files(order.order_id)
    with Flood(state):
        # The start signal takes the headroom; the load starts once the flood has had time to fill the rest.
        node.release(order, boottime() + REFILL_SECONDS)
        until(lambda: not (files.directory / HEADROOM).exists() and free_bytes(state) == 0, "the full disk")
        until(lambda: not list(target.iterdir()), "the end of the load")
        time.sleep(2.0)  # its runner has found no room for its last record
        assert not files.exit.exists()
        assert files.order.exists()
    result = node.finish(order)
    require_whole(result)
    assert list(target.iterdir()) == []


def test_the_result_of_a_run_that_has_ended_waits_for_room_too(node: NodeRig, state: Path, target: Path) -> None:
    order = node.order("dd", DD, target)
    node.begin(order)
    node.release(order)
    node.until(lambda: RunnerEnded(order.order_id) in node._events)
    collected = threading.Thread(target=node.runs.collect, args=(order.order_id,), daemon=True)
    with Flood(state):
        (node.spool.files(order.order_id).directory / "headroom").unlink(missing_ok=True)
        time.sleep(0.2)
        collected.start()
        collected.join(1.0)
        assert collected.is_alive()
    collected.join(LIMIT_SECONDS)
    assert not collected.is_alive()
    require_whole(node.spool.result(order.order_id))
    node.runs.forget(order.order_id)


def test_a_run_is_postponed_with_a_message_if_no_room_can_be_reserved(node: NodeRig, state: Path, target: Path) -> None:
    order = node.order("dd", DD, target)
    node.spool.keep_order(order)
    with Flood(state):
        node.runs.begin(order)
        result = node.spool.result(order.order_id)
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "state_disk_full")
    assert result.reason == (
        f"the disk of {state} has 0 B free, but the records of a run need 16 MiB; free some space there"
    )
    # A postponed run counts neither an attempt nor a decline.
    assert result.not_before is not None
    assert result.not_before > datetime.now(UTC) + timedelta(seconds=30)
    node.runs.forget(order.order_id)


def test_room_that_is_set_aside_is_there_and_counts_as_no_unsent_result(
    node: NodeRig, state: Path, target: Path
) -> None:
    order = node.order("dd", DD, target)
    before_bytes = os.statvfs(state).f_bavail * os.statvfs(state).f_frsize
    node.begin(order)
    after_bytes = os.statvfs(state).f_bavail * os.statvfs(state).f_frsize
    assert before_bytes - after_bytes >= HEADROOM_BYTES
    assert node.spool.used_bytes() < MIB
    node.release(order)
    node.finish(order)
    assert os.statvfs(state).f_bavail * os.statvfs(state).f_frsize > after_bytes + HEADROOM_BYTES // 2


def test_an_unrecorded_end_is_reported_as_unrecorded(node: NodeRig, target: Path) -> None:
    order = node.order("dd", DD, target)
    node.spool.keep_order(order)
    node.runs._add(order)
    node.runs.collect(order.order_id)
    result = node.spool.result(order.order_id)
    assert result.outcome is Outcome.FAILED
    words = "the agent could not parse the run's output: the runner left no record of how the run ended"
    assert result.reason == words
    node.runs.forget(order.order_id)


def test_the_check_and_the_heartbeat_report_the_full_disk(state: Path, target: Path) -> None:
    config = parse_config({"state_directory": str(state), "approved_directories": [str(target)]})
    assert disk_problem(state) is None
    with Flood(state):
        words = disk_problem(state)
        (found,) = [finding for finding in examine(config) if finding.name == "state directory"]
    assert words == f"the disk of {state} has 0 B free, but the records of a run need 16 MiB; free some space there"
    assert (found.state, found.remedy) == (State.MISSING, "free some space there")
    assert "has 0 B free" in found.sentence


def test_an_offer_is_left_alone_while_an_order_could_not_be_kept(state: Path) -> None:
    spool = Spool(state)
    spool.prepare()
    transport = Transport("http://127.0.0.1:1", "token", None)  # nothing answers there, and nothing is sent
    speaker = Speaker(transport, spool, ServerClock(), "instance-1", "boot-id-1")
    with Flood(state):
        assert speaker.claim(1, 10) == ClaimUnanswered(1, 10)
    transport.close()


@pytest.fixture
def quota(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Set whether the quota of the agent's user is used up; its disk's free space does not show that."""
    is_used_up = False

    def use_up(wanted: bool) -> None:  # noqa: FBT001 - reads as a sentence
        nonlocal is_used_up
        is_used_up = wanted

    def refuse(*_: object) -> None:
        if is_used_up:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    return use_up


def test_a_quota_that_is_used_up_is_reported_like_a_full_disk(
    state: Path, target: Path, quota: Callable[[bool], None]
) -> None:
    words = (
        f"{state} has no room for the 16 MiB that the records of a run need: Disk quota exceeded; "
        "free some space there or raise the quota of the agent's user"
    )
    config = parse_config({"state_directory": str(state), "approved_directories": [str(target)]})
    spool = Spool(state)
    spool.prepare()
    problems: list[str | None] = []
    with closing(Heartbeats(problems)) as transport:
        speaker = Speaker(transport, spool, ServerClock(), "instance-1", "boot-id-1")
        speaker.heartbeat(1, ())
        quota(True)
        assert speaker.claim(1, 10) == ClaimUnanswered(1, 10)
        assert transport.claims == 0
        speaker.heartbeat(2, ())
        (found,) = [finding for finding in examine(config) if finding.name == "state directory"]
        quota(False)
        speaker.heartbeat(3, ())
    assert problems == [None, words, None]
    assert (found.state, f"{found.sentence}; {found.remedy}") == (State.MISSING, words)
    assert not (state / "headroom").exists()


def test_an_order_that_exceeds_the_quota_is_claimed_again_and_the_heartbeat_gives_the_reason(
    state: Path, quota: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(state)
    spool.prepare()
    problems: list[str | None] = []

    def refuse(_: object) -> None:
        quota(True)
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    with closing(Heartbeats(problems)) as transport:
        speaker = Speaker(transport, spool, ServerClock(), "instance-1", "boot-id-1")
        monkeypatch.setattr(spool, "keep_order", refuse)
        assert speaker.claim(1, 10) == ClaimUnanswered(1, 10)
        speaker.heartbeat(1, ())
    assert transport.claims == 1
    assert "Disk quota exceeded" in str(problems[0])


class Heartbeats(Transport):
    """Server that accepts heartbeats and gives orders."""

    def __init__(self, problems: list[str | None]) -> None:
        super().__init__("http://127.0.0.1:1", "token", None)
        self._problems = problems
        self.claims = 0

    def heartbeat(self, request: HeartbeatRequest) -> HeartbeatReply:
        self._problems.append(request.problem)
        return HeartbeatReply(
            server_time=datetime.now(UTC), beat_seconds=5.0, orders=(), oldest_offer_seconds=None, hello_wanted=False
        )

    def claim(self, order_id: int, request: ClaimRequest) -> Order:
        del request
        self.claims += 1
        return make_order(order_id)


def test_an_agent_that_cannot_note_its_greeting_notes_it_later(state: Path) -> None:
    spool = Spool(state)
    spool.prepare()
    assert spool.keep_instance("instance-1")
    with Flood(state):
        assert not spool.keep_instance("instance-2")
        assert spool.last_instance() == "instance-1"
    assert spool.keep_instance("instance-2")
    assert spool.last_instance() == "instance-2"

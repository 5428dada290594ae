"""Streams between two nodes: the ends share only the endpoint that the server passes on."""

import json
import socket
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from factories.outcomes import make_place, read_all, run_groups

from iotide_agent.loads import stream_receive, stream_send, stream_wire
from iotide_agent.loads.stream_receive import Receiver
from iotide_agent.workloads.base import Counters, Parsed, Place, StepOutcome
from iotide_agent.workloads.stream import StreamWorkload
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions
from iotide_wire.endpoint import Endpoint
from iotide_wire.measured import FlagCode, StepRole

STREAM = StreamWorkload()
TOKEN = "0123456789abcdef" * 2
RATE = 32 * MEGABIT  # low, so that a busy machine holds it
KILLED_WHILE_RECEIVING = """
import subprocess, sys, time
from pathlib import Path

receiver = subprocess.Popen(sys.argv[2:])
while receiver.poll() is None and not any(file.stat().st_size for file in Path(sys.argv[1]).rglob("*")):
    time.sleep(0.02)
receiver.kill()
sys.exit(receiver.wait() and 137)
"""


def options(**given: object) -> StreamOptions:
    return StreamOptions.model_validate({"duration_seconds": 1, "rate_bytes_per_second": RATE} | given)


@dataclass(frozen=True)
class Ends:
    """A receiving and a sending node.

    Attributes:
        sockets: of the receiving node, as its runner holds them.
    """

    receiver: Place
    sender: Place
    sockets: list[socket.socket]

    @property
    def ports(self) -> list[int]:
        return [one.getsockname()[1] for one in self.sockets]

    def run(self, asked: StreamOptions, *receiver_prefix: str) -> tuple[list[StepOutcome], list[StepOutcome]]:
        """Run both and return the outcomes of the receiver's and the sender's steps."""
        receiving = [
            tuple(replace(step, argv=(*receiver_prefix, *step.argv)) for step in group)
            for group in STREAM.plan(asked, [self.receiver])
        ]
        with ThreadPoolExecutor() as both:
            received = both.submit(run_groups, receiving, self.receiver, self.sockets)
            sent = both.submit(run_groups, STREAM.plan(asked, [self.sender]), self.sender)
            return received.result(), sent.result()


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[Ends]:
    """Return ends with two ports."""
    endpoint = tmp_path / "endpoint.json"
    receiver, sender = (make_place(tmp_path / name) for name in ("receiver", "sender"))
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        found = Ends(
            replace(receiver, step_role=StepRole.RECEIVER, endpoint=endpoint),
            replace(sender, step_role=StepRole.SENDER, endpoint=endpoint, target_id=None, target_count=0),
            sockets,
        )
        written = Endpoint(address="127.0.0.1", ports=tuple(found.ports), token=TOKEN)
        endpoint.write_text(written.model_dump_json())
        yield found


def values(parsed: Parsed) -> dict[str, float]:
    """Return the values by metric and by operation or cause."""
    names = ("operation", "cause")
    return {
        " ".join([sample.metric, *(str(sample.labels[name]) for name in names if name in sample.labels)]): sample.value
        for sample in parsed.samples
    }


def with_report(outcome: StepOutcome, **changes: object) -> StepOutcome:
    return replace(outcome, stdout=json.dumps(json.loads(outcome.stdout) | changes))


def test_each_node_reports_its_own_end_and_the_receiver_owns_the_loss(ends: Ends) -> None:
    asked = options(verify=True, files="split")
    received, sent = ends.run(asked)
    assert [STREAM.failure(outcome) for outcome in [*received, *sent]] == [None] * 3
    of_receiver, of_sender = (
        read_all(STREAM, asked, place, outcomes) for place, outcomes in ((ends.receiver, received), (ends.sender, sent))
    )
    recorded = values(of_receiver)
    assert recorded["datagrams_lost"] == recorded["loss_ratio"] == 0
    assert recorded["lossless_rate"] == RATE
    assert recorded["datagrams_received"] == 4_000_000 // 8192
    assert recorded["throughput verify"] > 0
    assert set(values(of_sender)) == {"throughput send", "datagrams_sent", "sender_lag"}
    assert values(of_sender)["throughput send"] == pytest.approx(RATE, rel=0.01)
    assert {sample.target_id for sample in of_sender.samples} == {None}
    assert {sample.target_id for sample in of_receiver.samples} == {7}
    assert "throughput send" not in recorded
    assert {curve.counter for curve in of_sender.curves} == {
        "stream_sent_bytes_per_second",
        "stream_sender_lag_seconds",
    }
    assert list(ends.receiver.directory.iterdir()) == []


def test_a_ramp_goes_over_a_port_for_each_rate_while_the_receiver_reads_back_between_them(ends: Ends) -> None:
    asked = options(ramp_rates=2, ramp_step_bytes_per_second=16 * MEGABIT, verify=True)
    assert STREAM.sockets(asked) == 2
    received, sent = ends.run(asked)
    assert [outcome.step.name for outcome in received] == ["receive-1", "verify-1", "receive-2", "verify-2"]
    assert [outcome.step.name for outcome in sent] == ["send-1", "send-2"]
    parsed = read_all(STREAM, asked, ends.receiver, received)
    assert values(parsed)["lossless_rate"] == 48 * MEGABIT
    first, second = (outcome.step.argv for outcome in sent)
    assert "--patience-seconds=600" in first
    assert any(word.startswith("--patience-seconds=2592000") for word in second)


def test_no_argument_contains_the_token_of_the_stream(ends: Ends) -> None:
    received, sent = ends.run(options(verify=True))
    stream_ids = {stream_wire.stream_id(TOKEN, number).hex() for number in range(2)}
    for outcome in [*received, *sent]:
        said = " ".join(outcome.step.argv)
        assert not any(secret in said for secret in (TOKEN, *stream_ids))
        assert TOKEN not in outcome.stdout + outcome.stderr


def test_strangers_are_neither_answered_nor_recorded(ends: Ends) -> None:
    asked = options(verify=True, duration_seconds=2)
    wrong_id = bytes(8)
    kinds = (stream_wire.HELLO, stream_wire.LAST, stream_wire.DATA)
    lies = [stream_wire.HEADER.pack(stream_wire.prefix(kind, wrong_id), 1, 0) for kind in kinds]
    data = stream_wire.HEADER.pack(stream_wire.prefix(stream_wire.DATA, wrong_id), 5, 0).ljust(8192, b"x")
    done = threading.Event()
    answers: list[bytes] = []

    def lie(port: int) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.settimeout(0.01)
            while not done.is_set():
                for lie in (b"", b"short", *lies, data):
                    stranger.sendto(lie, ("127.0.0.1", port))
                try:
                    answers.append(stranger.recv(100))
                except (TimeoutError, ConnectionRefusedError):
                    continue

    with ThreadPoolExecutor() as pool:
        lying = pool.submit(lie, ends.ports[0])
        received, sent = ends.run(asked)
        done.set()
        lying.result()
    assert [STREAM.failure(outcome) for outcome in [*received, *sent]] == [None] * 3
    parsed = read_all(STREAM, asked, ends.receiver, received)
    assert answers == []
    assert json.loads(received[0].stdout)["foreign"] > 0
    assert (values(parsed)["datagrams_lost"], values(parsed)["lossless_rate"]) == (0, RATE)
    assert FlagCode.ERRORS not in {flag.code for flag in parsed.flags}


def test_overflow_before_the_recorder_began_is_not_a_loss_of_the_stream(ends: Ends) -> None:
    ends.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
        for _ in range(1000):
            caller.sendto(b"called in vain", ("127.0.0.1", ends.ports[0]))
    [received], _ = ends.run(options())
    report = json.loads(received.stdout)
    assert (report["kernel_drops"], sum(report["by_second"]["kernel_drops"])) == (0, 0)
    assert report["foreign"] > 0


def test_a_sender_ends_at_once_with_a_message_when_its_receiver_is_killed(ends: Ends) -> None:
    asked = options(duration_seconds=60)
    killed = (sys.executable, "-c", KILLED_WHILE_RECEIVING, str(ends.receiver.directory))
    [received], [sent] = ends.run(asked, *killed)
    assert received.exit_status == 137
    assert "the receiver went away after" in str(STREAM.failure(sent))
    assert sent.wall_seconds < 20


def test_losses_are_counted_by_the_plan_if_the_senders_final_report_is_lost(ends: Ends) -> None:
    asked = options()
    [received], [sent] = ends.run(asked)
    planned = 4_000_000 // 8192
    cut = planned - 10
    by_second = json.loads(received.stdout)["by_second"] | {"received": [cut]}
    silent = with_report(
        received, total=None, sent_seconds=None, received=cut, by_second=by_second, written_bytes=[cut * 8192]
    )
    assert values(read_all(STREAM, asked, ends.receiver, [silent]))["datagrams_lost"] == 10
    slow = with_report(received, sent_seconds=1.2)
    parsed = values(read_all(STREAM, asked, ends.receiver, [slow]))
    assert (parsed["datagrams_lost"], parsed["lossless_rate"]) == (0, 0), "the sender did not hold the rate"
    unsaid = with_report(received, total=None, sent_seconds=None)
    assert values(read_all(STREAM, asked, ends.receiver, [unsaid]))["lossless_rate"] == 0
    assert values(read_all(STREAM, asked, ends.sender, [sent])).keys() >= {"throughput send"}


def test_a_receiver_alone_knows_its_progress_by_what_it_has_written(ends: Ends) -> None:
    [(receive,)] = STREAM.plan(options(), [ends.receiver])
    [(send,)] = STREAM.plan(options(), [ends.sender])
    half = Counters(written_bytes=2_000_000, read_bytes=0, elapsed_seconds=1.0)
    assert STREAM.progress(receive, half, "") == pytest.approx(0.5, rel=0.01)
    assert STREAM.progress(send, half, "sent 10 of 40") == 0.25


def test_a_sender_without_an_answer_names_address_port_and_remedy(ends: Ends) -> None:
    [(send,)] = STREAM.plan(options(), [ends.sender])
    [unheard] = run_groups([(replace(send, argv=(*send.argv, "--patience-seconds=0.2")),)], ends.sender)
    said = str(STREAM.failure(unheard))
    assert f"stream_send: no receiver answers at 127.0.0.1 port {ends.ports[0]} within 0.2 s" in said
    assert "allow UDP from this node to it in the firewalls" in said
    assert "set data_address in the receiving node's agent.toml" in said


def test_a_receiver_without_a_sender_names_address_port_and_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_wire, "START_SECONDS", 0.2)
    asked = Namespace(address="127.0.0.1", port=0, stream_id="00" * 8, endpoint_file=None, socket_buffer_bytes=65_536)
    receiver = Receiver(asked)
    asked.endpoint_file = Path("endpoint.json")
    with (
        closing(receiver.socket),
        pytest.raises(TimeoutError, match=r"no sender appears at 127\.0\.0\.1 port 0 within 0\.2"),
    ):
        receiver.meet(wanted=True)
    assert "data_address in its agent.toml" in stream_receive._no_sender(asked)


@pytest.mark.parametrize("load", [stream_send, stream_receive])
def test_an_end_without_an_endpoint_fails_with_a_message(
    load: object, ends: Ends, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint = ends.sender.endpoint
    assert endpoint is not None
    endpoint.unlink()
    role = ends.sender if load is stream_send else ends.receiver
    [(step,)] = STREAM.plan(options(), [role])
    arguments = list(step.argv[next(at for at, word in enumerate(step.argv) if word.endswith(".py")) + 1 :])
    main = stream_send.main if load is stream_send else stream_receive.main
    assert main(arguments) == 1
    assert "endpoint.json" in capsys.readouterr().err


@pytest.mark.parametrize("load", [stream_send.main, stream_receive.main])
def test_a_call_without_an_address_or_an_endpoint_is_a_wrong_call(load: object) -> None:
    main = stream_send.main if load is stream_send.main else stream_receive.main
    common = ["--datagram-bytes=8192", "--stream-id=" + "00" * 8]
    own = ["--rate=1", "--datagrams=1"] if main is stream_send.main else []
    more = own or ["--socket-buffer-bytes=1", "--ring-bytes=1", "--file-bytes=1", "directory"]
    with pytest.raises(SystemExit) as wrong:
        main([*common, *more])
    assert wrong.value.code == 2

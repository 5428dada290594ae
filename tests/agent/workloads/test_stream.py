import json
import random
from argparse import Namespace
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from factories.lossy_relay import Faults, through_relay
from factories.outcomes import make_place, read_all, run_groups

from iotide_agent.loads.stream_files import Chunk, FileRule, Ring, Writer
from iotide_agent.loads.stream_receive import Receiver
from iotide_agent.loads.stream_send import Sender
from iotide_agent.workloads.base import Counters, Group, OutputRefusedError, Parsed, Place, Step, StepOutcome
from iotide_agent.workloads.stream import StreamWorkload
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode, FlagEffect, StepRole

STREAM = StreamWorkload()
SMALL = {"duration_seconds": 1, "rate_bytes_per_second": 128 * MEGABIT}


def options(**given: object) -> StreamOptions:
    return StreamOptions.model_validate(SMALL | given)


def values(parsed: Parsed, metric: str, **labels: object) -> list[float]:
    return [
        sample.value for sample in parsed.samples if sample.metric == metric and labels.items() <= sample.labels.items()
    ]


def value(parsed: Parsed, metric: str, **labels: object) -> float:
    [found] = values(parsed, metric, **labels)
    return found


def lost(parsed: Parsed, **labels: object) -> list[float]:
    """Return all lost datagrams, without those by cause."""
    return [
        sample.value
        for sample in parsed.samples
        if sample.metric == "datagrams_lost"
        and "cause" not in sample.labels
        and labels.items() <= sample.labels.items()
    ]


def codes(parsed: Parsed) -> set[FlagCode]:
    return {flag.code for flag in parsed.flags}


def with_report(outcome: StepOutcome, **changes: object) -> StepOutcome:
    return replace(outcome, stdout=json.dumps(json.loads(outcome.stdout) | changes))


def has_sent(outcome: StepOutcome) -> bool:
    return outcome.step.role is StepRole.SENDER and "seconds" in json.loads(outcome.stdout)


def in_time(outcomes: Sequence[StepOutcome]) -> list[StepOutcome]:
    """Remove flags of lateness, as on an otherwise idle machine: a pause of 10 ms slows a stream of one second."""
    return [with_report(end, seconds=1.0) if has_sent(end) else end for end in outcomes]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[StreamOptions, Place, list[StepOutcome]]:
    """Return one verified stream without loss."""
    place = make_place(tmp_path_factory.mktemp("recorded"))
    asked = options(verify=True, files="split")
    return asked, place, in_time(run_groups(STREAM.plan(asked, [place]), place))


def test_every_injected_loss_duplicate_and_swap_is_counted_exactly(place: Place) -> None:
    asked = options(verify=True, files="single")
    [(receive, send), verify] = STREAM.plan(asked, [place])
    planned = 16_000_000 // 8192
    numbers = random.Random(7).sample(range(2, planned - 2, 3), 45 + 9 + 5)  # noqa: S311 - repeatable on purpose
    # The first and the last datagram are lost too: a receiver that counts only what arrives would miss them.
    faults = Faults(frozenset({0, planned - 1, *numbers[:45]}), frozenset(numbers[45:54]), frozenset(numbers[54:]))

    with through_relay(send, faults) as (relayed, relay):
        outcomes = run_groups([(receive, relayed), verify], place)

    assert relay.applied == {"drops": 47, "duplicates": 9, "swaps": 5}
    parsed = read_all(STREAM, asked, place, outcomes)
    assert lost(parsed) == [47]
    assert value(parsed, "datagrams_duplicated") == 9
    assert value(parsed, "datagrams_reordered") == 5
    assert value(parsed, "datagrams_late") == 0
    assert value(parsed, "datagrams_received") == planned - 47
    assert value(parsed, "loss_ratio") == 47 / planned
    causes = {cause: value(parsed, "datagrams_lost", cause=cause) for cause in ("network", "ring", "socket_buffer")}
    assert causes == {"network": 47, "ring": 0, "socket_buffer": 0}
    assert value(parsed, "lossless_rate") == 0
    assert FlagCode.CLIENT_BOUND in codes(parsed)
    assert FlagCode.ERRORS not in codes(parsed)


def test_stream_without_loss_is_held_recorded_and_read_back(
    recorded: tuple[StreamOptions, Place, list[StepOutcome]],
) -> None:
    asked, place, outcomes = recorded
    parsed = read_all(STREAM, asked, place, outcomes)
    assert lost(parsed) == [0]
    assert value(parsed, "lossless_rate") == 128 * MEGABIT
    assert value(parsed, "throughput", operation="send") == pytest.approx(128 * MEGABIT, rel=0.01)
    assert 0 < value(parsed, "throughput", operation="record") < 1.1 * 128 * MEGABIT
    assert value(parsed, "throughput", operation="verify") > 0
    assert codes(parsed) >= {FlagCode.DURATION}
    assert FlagCode.ERRORS not in codes(parsed)
    assert list(place.directory.iterdir()) == []
    [receive, *_] = outcomes
    by_second = json.loads(receive.stdout)["by_second"]
    assert sum(by_second["received"]) == 16_000_000 // 8192


def test_ramp_ends_after_the_first_loss(place: Place) -> None:
    # Rates so low that a pause of the machine loses nothing.
    asked = options(rate_bytes_per_second=16 * MEGABIT, ramp_rates=3, ramp_step_bytes_per_second=8 * MEGABIT)
    first, (receive, send), third = STREAM.plan(asked, [place])
    with through_relay(send, Faults(drops=frozenset({5}))) as (relayed, _):
        outcomes = in_time(run_groups([first, (receive, relayed), third], place))

    parsed = read_all(STREAM, asked, place, outcomes)
    assert lost(parsed, rate_bytes_per_second=16 * MEGABIT) == [0]
    assert lost(parsed, rate_bytes_per_second=24 * MEGABIT) == [1]
    assert [sample for sample in parsed.samples if sample.labels.get("rate_bytes_per_second") == 32 * MEGABIT] == []
    assert value(parsed, "lossless_rate") == 16 * MEGABIT


def test_ramp_is_lossless_below_the_first_rate_that_was_not_read_back_whole(
    recorded: tuple[StreamOptions, Place, list[StepOutcome]],
) -> None:
    _, place, [receive, send, verify] = recorded
    asked = options(verify=True, ramp_rates=3, ramp_step_bytes_per_second=8 * MEGABIT)
    fast, spoilt = with_report(send, seconds=0.8), with_report(verify, unique=1900)

    def ramp(*verified: StepOutcome) -> Parsed:
        ends = [(receive, fast, one) for one in verified]
        named = [
            replace(outcome, step=replace(outcome.step, name=f"{outcome.step.name}-{number}"))
            for number, outcomes in enumerate(ends, start=1)
            for outcome in outcomes
        ]
        return STREAM.conclude(asked, [place], named)

    assert value(ramp(verify, verify, verify), "lossless_rate") == 144 * MEGABIT
    assert value(ramp(verify, spoilt, verify), "lossless_rate") == 128 * MEGABIT
    assert value(ramp(spoilt, verify, verify), "lossless_rate") == 0


def test_stream_is_striped_over_all_targets_of_the_run(tmp_path: Path) -> None:
    places = [
        replace(make_place(tmp_path / str(target_id)), target_id=target_id, target_count=2) for target_id in (7, 8)
    ]
    asked = options(rate_bytes_per_second=512 * MEGABIT, files="split", verify=True)
    outcomes = run_groups(STREAM.plan(asked, places), places[0])

    reads = [STREAM.read(asked, places[0], outcome) for outcome in outcomes]
    parsed = Parsed.of_all([*reads, STREAM.conclude(asked, places, outcomes)])
    shares = {sample.target_id: sample.value for sample in parsed.samples if sample.labels.get("operation") == "record"}
    assert shares.keys() == {None, 7, 8}
    assert shares[7] > 0
    assert shares[8] > 0
    assert shares[None] == pytest.approx(shares[7] + shares[8])
    metrics = {sample.metric: sample.target_id for sample in parsed.samples if sample.value in shares.values()}
    assert (metrics["throughput"], metrics["target_throughput"]) == (None, 8), "whole and parts share no series"
    of_one_target = {sample.labels["operation"] for sample in parsed.samples if sample.target_id is not None}
    assert of_one_target == {"record"}, "both ends and the reader are of the whole stream"


def test_target_of_a_striped_stream_takes_no_more_than_is_foreseen(tmp_path: Path) -> None:
    places = [replace(make_place(tmp_path / str(number)), target_id=number) for number in range(3)]
    asked = options(rate_bytes_per_second=800 * MEGABIT, files="split", verify=True, file_size_bytes=32 * 1024**2)
    [(receive, send), _] = STREAM.plan(asked, places)
    [limit] = [int(word.partition("=")[2]) for word in receive.argv if word.startswith("--most-bytes=")]
    data_bytes = 100_000_000 // 8192 * 8192
    assert limit == data_bytes // 2
    # The others cannot write fast: a single one would get nearly all the data.
    ring, rule = Ring(8 * 8_000_000, 8_000_000), FileRule(32_000_000, is_single=False, kept_files=0, direct=False)
    writer = Writer(ring, str(places[0].directory), rule, most_bytes=16_000_000)
    for _ in range(4):
        memory = ring.take(0)
        assert memory is not None
        ring.filled.put(Chunk(memory, 8_000_000))
    writer.start()
    writer.join()
    assert (writer.error, writer.written_bytes, ring.filled.qsize()) == (None, 16_000_000, 2)
    foreseen = {"targets.count": 3, **asked.model_dump()}
    spare_bytes = evaluate(STREAM.bytes_needed, foreseen) - limit
    assert 0 < spare_bytes < 34 * 1024**2
    outcomes = run_groups([(receive, send)], places[0])
    assert max(json.loads(outcomes[0].stdout)["written_bytes"]) <= limit + 9_000_000


def test_ring_of_files_keeps_only_the_newest(place: Place) -> None:
    asked = options(
        rate_bytes_per_second=1024 * MEGABIT, file_size_bytes=32 * 1024**2, kept_files=2, files="recycle", verify=True
    )
    [recording, _] = STREAM.plan(asked, [place])
    [receive, _] = run_groups([recording], place)
    report = json.loads(receive.stdout)
    assert sorted(file.name for file in place.directory.iterdir()) == ["stream-000003.data", "stream-000004.data"]
    assert sum(file.stat().st_size for file in place.directory.iterdir()) == sum(report["kept_bytes"])
    assert sum(report["written_bytes"]) == report["received"] * 8192 == 128_000_000 // 8192 * 8192


@pytest.mark.parametrize("datagram_bytes", [1024, 1500, 8972])
def test_datagrams_of_any_size_come_back_from_the_files(datagram_bytes: int, place: Place) -> None:
    asked = options(
        datagram_bytes=datagram_bytes, verify=True, files="split", file_size_bytes=32 * 1024**2, duration_seconds=3
    )
    parsed = read_all(STREAM, asked, place, run_groups(STREAM.plan(asked, [place]), place))
    assert FlagCode.ERRORS not in codes(parsed)
    assert value(parsed, "throughput", operation="verify") > 0


def test_full_disk_ends_both_ends_and_keeps_what_was_counted(place: Place) -> None:
    asked = options(duration_seconds=20, rate_bytes_per_second=512 * MEGABIT, files="single")
    [(receive, send)] = STREAM.plan(asked, [place])
    full = replace(receive, argv=("prlimit", f"--fsize={32 * 1024**2}", *receive.argv))
    received, sent = run_groups([(full, send)], place)

    assert STREAM.failure(received) == "stream_receive: [Errno 27] File too large" + own_file(place)
    assert "the receiver went away" in str(STREAM.failure(sent))
    assert received.wall_seconds < 10
    assert value(STREAM.read_cut(asked, place, received), "datagrams_received") > 0


def own_file(place: Place) -> str:
    """fallocate names the file."""
    return f": '{place.directory}/stream-000001.data'"


def test_interrupted_stream_keeps_what_was_counted(place: Place) -> None:
    asked = options(duration_seconds=60)
    interrupted = tuple(
        replace(step, argv=("timeout", "--preserve-status", "-s", "INT", "6", *step.argv))
        for step in STREAM.plan(asked, [place])[0]
    )
    received, sent = run_groups([interrupted], place)
    assert STREAM.failure(received) == STREAM.failure(sent) == "the stream was interrupted before its end (status 130)"
    cut = STREAM.read_cut(asked, place, received)
    assert "stream_dropped_datagrams_per_second" in {curve.counter for curve in cut.curves}
    assert value(cut, "throughput", operation="record") == pytest.approx(128 * MEGABIT, rel=0.3)
    assert STREAM.read_cut(asked, place, sent) == Parsed()


@pytest.mark.parametrize(
    ("role", "changes", "says"),
    [
        (StepRole.RECEIVER, {"total": 1900}, "announced 1900 to the receiver"),
        (StepRole.CLIENT, {"unique": 1900}, "1900 of them different"),
        (StepRole.CLIENT, {"foreign": 1}, "1 broken or not of the stream"),
    ],
)
def test_ends_that_contradict_each_other_reject_the_rate(
    role: StepRole,
    changes: dict[str, object],
    says: str,
    recorded: tuple[StreamOptions, Place, list[StepOutcome]],
) -> None:
    asked, place, outcomes = recorded
    wrong = [with_report(outcome, **changes) if outcome.step.role is role else outcome for outcome in outcomes]
    parsed = read_all(STREAM, asked, place, wrong)
    assert value(parsed, "lossless_rate") == 0
    [flag] = [flag for flag in parsed.flags if flag.code is FlagCode.ERRORS]
    assert flag.effect is FlagEffect.REJECTED
    assert says in flag.measured
    assert flag.labels == {"rate_bytes_per_second": 128 * MEGABIT}


@pytest.mark.parametrize(
    ("role", "changes"),
    [
        (StepRole.RECEIVER, {"received": 1000}),
        (StepRole.RECEIVER, {"duplicates": 1}),
        (StepRole.RECEIVER, {"written_bytes": [8192]}),
        (StepRole.RECEIVER, {"kernel_drops_while_full": 1}),
        (StepRole.RECEIVER, {"role": "sender"}),
        (StepRole.SENDER, {"sent": 1000}),
        (StepRole.SENDER, {"sent": 1000, "by_second": {"sent": [1000], "largest_lag_seconds": [0.0]}}),
        (StepRole.SENDER, {"seconds": 0}),
    ],
)
def test_report_that_contradicts_itself_or_the_plan_is_refused(
    role: StepRole, changes: dict[str, object], recorded: tuple[StreamOptions, Place, list[StepOutcome]]
) -> None:
    asked, place, outcomes = recorded
    wrong = next(with_report(outcome, **changes) for outcome in outcomes if outcome.step.role is role)
    with pytest.raises(OutputRefusedError, match=f"step {wrong.step.name}"):
        STREAM.read(asked, place, wrong)


def test_losses_are_distinguished_by_when_the_kernel_dropped(
    recorded: tuple[StreamOptions, Place, list[StepOutcome]],
) -> None:
    asked, place, outcomes = recorded
    [receive, send, verify] = outcomes
    report = json.loads(receive.stdout)
    received = report["received"] - 100
    by_second = report["by_second"] | {"received": [received]}
    lossy = with_report(
        receive,
        received=received,
        by_second=by_second,
        written_bytes=[received * 8192],
        kernel_drops=90,
        kernel_drops_while_full=60,
    )
    parsed = read_all(STREAM, asked, place, [lossy, send, verify])
    causes = {cause: value(parsed, "datagrams_lost", cause=cause) for cause in ("ring", "socket_buffer", "network")}
    assert causes == {"ring": 60, "socket_buffer": 30, "network": 10}
    [flag] = [flag for flag in parsed.flags if "never reached" in flag.measured]
    assert flag.measured.startswith("40 of 100 lost")


def test_drops_while_all_memory_waits_for_the_disk_are_the_rings(place: Place) -> None:
    ends = Namespace(
        address="127.0.0.1",
        port=0,
        stream_id="00112233445566aa",
        endpoint_file=None,
        patience_seconds=60.0,
        datagram_bytes=8192,
        rate=2 * 10**7,  # the socket buffer holds 0.2 s: while the ring has room, a busy machine must drop nothing
        datagrams=6000,
        socket_buffer_bytes=4 * 1024**2,
        directory=[str(place.directory)],
    )
    receiver = Receiver(ends)
    ends.port = receiver.socket.getsockname()[1]
    sender = Sender(ends)
    ring = Ring(0, 8 * 1024**2)
    writer = Writer(ring, str(place.directory), FileRule(64 * 1024**2, is_single=True, kept_files=0, direct=False))

    def send() -> None:
        assert sender.is_wanted()
        sender.send()
        writer.start()  # not earlier: the two chunks of the ring hold a third of the stream
        sender.finish()

    with closing(receiver.socket), closing(sender._socket), ThreadPoolExecutor() as pool:
        sending = pool.submit(send)
        assert receiver.meet(wanted=True)
        receiver.receive(ring, [writer])
        sending.result()
        ring.filled.put(None)
        writer.join()

        missing = 6000 - receiver.window.unique
        assert missing > 2000
        assert receiver.total == 6000
        # Of the twenty datagrams that end a stream, the first may find the buffer still full.
        assert missing <= receiver.full_drops <= missing + 20
        assert receiver.kernel_drops() == receiver.full_drops
        assert receiver.full_seconds > 0
        assert writer.written_bytes == receiver.window.unique * 8192


def test_sender_that_lagged_and_a_small_socket_buffer_are_flagged(
    recorded: tuple[StreamOptions, Place, list[StepOutcome]],
) -> None:
    asked, place, [receive, send, _] = recorded
    small = with_report(receive, socket_buffer_bytes=212_992)
    [flag] = [flag for flag in STREAM.read(asked, place, small).flags if flag.code is FlagCode.CLIENT_BOUND]
    assert "208 KiB" in flag.measured
    assert "rmem_max" in flag.limit

    slow = with_report(send, seconds=1.25, largest_lag_seconds=0.25)
    [flag] = STREAM.read(asked, place, slow).flags
    assert flag.code is FlagCode.CLIENT_BOUND
    assert "102 of 128 Mbit/s, up to 250 ms behind" in flag.measured
    assert value(read_all(STREAM, asked, place, [receive, slow, recorded[2][2]]), "lossless_rate") == 0


def test_progress_is_what_the_sender_says(place: Place) -> None:
    [(receive, _)] = STREAM.plan(options(), [place])
    counters = Counters(0, 0, 1.0)
    assert STREAM.progress(receive, counters, "sent 0 of 2000\nsent 500 of 2000\n") == 0.25
    assert STREAM.progress(receive, counters, "") is None


def steps(groups: Sequence[Group]) -> list[Step]:
    return [step for group in groups for step in group]


def test_two_runs_on_one_node_do_not_meet(tmp_path: Path) -> None:
    receives = [steps(STREAM.plan(options(), [make_place(tmp_path / name)]))[0] for name in "ab"]
    assert len({argument for step in receives for argument in step.argv if "--stream-id" in argument}) == 2

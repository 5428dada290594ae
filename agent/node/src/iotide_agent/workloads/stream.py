"""stream: records a UDP stream of constant rate, and finds losses, their causes and the highest lossless rate."""

import hashlib
import re
import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from math import ceil
from pathlib import Path
from typing import ClassVar, Final

from iotide_agent.loads import stream_wire
from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Before, Counters, Group, Parsed, Place, Sample, Step, StepOutcome, Workload
from iotide_agent.workloads.metrics import THROUGHPUT, MetricKind
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions
from iotide_agent.workloads.stream_report import (
    Ends,
    Pace,
    Received,
    Sent,
    Verified,
    read_report,
    received_curves,
    received_flags,
    received_samples,
    sent_parsed,
    verified_samples,
    was_direct,
)
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import TARGET_COUNT, Expression, Holds, Number, Operation, Option
from iotide_wire.measured import StepRole
from iotide_wire.units import MIB, Unit, format_bytes


def _least(*args: Expression) -> Expression:
    return Operation(op="min", args=args)


_LOADS: Final = Path(__file__).parent.parent / "loads"
_ADDRESS: Final = "127.0.0.1"
_FIRST_PORT: Final = 20_000
_PORTS: Final = 12_000
"""Below the kernel's range of ephemeral ports."""
_SPARE_BYTES: Final = 32 * MIB
"""Files are whole chunks of up to 18 MiB, so they may exceed the data a little."""
_DATA_BYTES: Final = Option.of("duration_seconds") * (
    Option.of("rate_bytes_per_second")
    + Option.of("ramp_step_bytes_per_second") * (Option.of("ramp_rates") - Number.of(1))
)
"""The highest rate."""
MOST_SHARE: Final = 1.5
"""Maximum part of a striped stream on one target, relative to an equal share, so that its space is known before."""
_RECYCLES: Final = Holds.of("files", "recycle")
_MOST_DECLARED: Final = 10_000
_PATIENCE_SECONDS: Final = 600.0
"""Longest wait of a sender for the receiver on another node, which first flushes its dirty pages."""
_ENDLESS_SECONDS: Final = 30.0 * 86_400
"""Limited only by the run's time limit: the first rate showed that the receiver is reachable, and later ones wait until
the previous one is read back.
"""
_SENT: Final = re.compile(r"^sent (\d+) of (\d+)$", re.MULTILINE)
_RATE: Final = ("rate_bytes_per_second",)
_LABELS: Final = (*_RATE, "direct")


class StreamWorkload(Workload[StreamOptions]):
    name: ClassVar[str] = "stream"
    title: ClassVar[str] = "stream: recording from the network"
    description: ClassVar[str] = (
        "Records a UDP stream of constant rate to files, on one target or striped over several, and counts every "
        "missing datagram."
    )
    revision: ClassVar[int] = 4
    tool: ClassVar[str | None] = None
    complaint: ClassVar[re.Pattern[str] | None] = re.compile(r"^stream_[a-z]+: .*", re.MULTILINE)
    needs_python: ClassVar[bool] = True
    step_roles: ClassVar[tuple[StepRole, ...]] = (StepRole.SENDER, StepRole.RECEIVER)
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        MetricKind("lossless_rate", "Highest lossless rate", Unit.BYTES_PER_SECOND, "higher").by(
            "direct",
            description="0 if even the lowest rate lost datagrams, or its recording is inconsistent.",
            primary=True,
        ),
        THROUGHPUT.by(
            "operation", *_LABELS, description="As sent, as recorded until all data was on disk, and as read back."
        ),
        MetricKind("target_throughput", "Throughput per target", Unit.BYTES_PER_SECOND, "higher").by(
            "operation", *_LABELS, description="Share of each target in the recording."
        ),
        MetricKind("datagrams_sent", "Datagrams sent", Unit.COUNT, "neither").by(*_RATE),
        MetricKind("sender_lag", "Maximum sender lag", Unit.SECONDS, "lower").by(*_RATE),
        MetricKind("datagrams_received", "Unique datagrams received", Unit.COUNT, "neither").by(*_LABELS),
        MetricKind("datagrams_lost", "Lost datagrams", Unit.COUNT, "lower").by(
            *_LABELS, "cause", description="In total and by cause."
        ),
        MetricKind("loss_ratio", "Loss ratio", Unit.RATIO, "lower").by(*_LABELS),
        MetricKind("datagrams_duplicated", "Duplicate datagrams", Unit.COUNT, "lower").by(*_LABELS),
        MetricKind("datagrams_reordered", "Reordered datagrams", Unit.COUNT, "lower").by(*_LABELS),
        MetricKind("datagrams_late", "Late datagrams", Unit.COUNT, "lower").by(
            *_LABELS, description="Too late to be recorded."
        ),
        MetricKind("socket_buffer", "Granted socket buffer", Unit.BYTES, "neither").by(*_LABELS),
        MetricKind("ring_high_water", "Peak ring buffer use", Unit.BYTES, "lower").by(*_LABELS),
        MetricKind("writer_stall", "Longest chunk write", Unit.SECONDS, "lower").by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = (
        _RECYCLES * _least(_DATA_BYTES, Option.of("file_size_bytes") * (Option.of("kept_files") + Number.of(1)))
        + (Number.of(1) - _RECYCLES) * _least(_DATA_BYTES, _DATA_BYTES * MOST_SHARE / Option.of(TARGET_COUNT))
        + _SPARE_BYTES
    )
    bytes_moved: ClassVar[Expression] = (
        _DATA_BYTES * Option.of("ramp_rates") * (Option.of("verify") + Number.of(1)) / Option.of(TARGET_COUNT)
        + _SPARE_BYTES
    )
    run_seconds: ClassVar[Expression] = Option.of("duration_seconds") * Option.of("ramp_rates")
    options_type = StreamOptions

    def sockets(self, options: StreamOptions) -> int:
        """Return one socket per rate, so that late datagrams of one rate never reach the next."""
        return options.ramp_rates

    def groups(self, options: StreamOptions, place: Place) -> list[Group]:
        return self.plan(options, [place])

    def plan(self, options: StreamOptions, places: Sequence[Place]) -> list[Group]:
        """Return for each rate a receiver for all targets and its sender, then the reader if requested.

        Of two nodes, one gets the senders and the other the rest.
        """
        role = places[0].step_role
        found: list[Group] = []
        for pace in _paces(options):
            ends = (_receive(options, places, pace), _send(options, places, pace))
            found.append(ends if role is StepRole.CLIENT else tuple(end for end in ends if end.role is role))
            if options.verify and role is not StepRole.SENDER:
                found.append((_verify(options, places, pace),))
        return found

    def read(self, options: StreamOptions, place: Place, outcome: StepOutcome) -> Parsed:
        pace, target_id = _pace_of(options, outcome.step), _whole(place)
        match outcome.step.role:
            case StepRole.SENDER:
                sent = read_report(Sent, outcome)
                return sent_parsed(sent, pace, outcome, target_id) if sent else Parsed()
            case StepRole.RECEIVER:
                received = read_report(Received, outcome)
                if received is None:
                    return Parsed()
                samples = received_samples(received, pace, outcome, target_id)
                flags = received_flags(received, pace, outcome, options.socket_buffer_bytes, place)
                return Parsed(samples, flags, received_curves(received, outcome))
            case _:
                verified = read_report(Verified, outcome)
                if verified is None:
                    return Parsed()
                flags = quality.judge_cache_drop(place, outcome, direct=was_direct(outcome))
                labels = {"operation": "verify", **pace.labels}
                samples = verified_samples(verified, pace, outcome, target_id)
                return Parsed(samples, [quality.about(flag, labels, place) for flag in flags])

    def read_cut(self, options: StreamOptions, place: Place, outcome: StepOutcome) -> Parsed:
        if outcome.step.role is not StepRole.RECEIVER or not outcome.stdout:
            return Parsed()
        received = read_report(Received, outcome)
        if received is None:
            return Parsed()
        samples = received_samples(received, _pace_of(options, outcome.step), outcome, _whole(place))
        return Parsed(samples, curves=received_curves(received, outcome))

    def conclude(self, options: StreamOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return losses by cause and the highest lossless rate. Only the receiving node reports them."""
        if places[0].step_role is StepRole.SENDER:
            return Parsed()
        target_id = places[0].target_id if len(places) == 1 else None
        by_name = {outcome.step.name: outcome for outcome in outcomes}
        ends = [Ends.of(pace, by_name) for pace in _paces(options)]
        done = [end for end in ends if end is not None]
        whole = takewhile(lambda end: end.is_lossless, done)
        held = [end.pace.rate for end in whole if end.is_held]
        cached = next((outcome for outcome in outcomes if outcome.cached_because), outcomes[0])
        places = [place.seen_by(cached) for place in places]
        labels = {"direct": _is_direct(options, places)}
        samples = [Sample("lossless_rate", float(max(held, default=0)), labels, target_id)]
        flags = [flag for place in places for flag in quality.judge_direct(place, wanted=options.direct)]
        for end in done:
            samples += end.samples(target_id)
            samples += end.samples_by_target(places) if len(places) > 1 else []
            flags += end.flags()
        return Parsed(samples, flags)

    def failure(self, outcome: StepOutcome) -> str | None:
        if outcome.exit_status == stream_wire.INTERRUPTED_STATUS:
            return "the stream was interrupted before its end (status 130)"
        return super().failure(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """Use the sender's count or, without a sender, bytes."""
        if step.role is StepRole.CLIENT or step.socket is not None:
            return super().progress(step, counters, output_tail)
        said = _SENT.findall(output_tail)
        return min(1.0, int(said[-1][0]) / int(said[-1][1])) if said else None


def _paces(options: StreamOptions) -> list[Pace]:
    found = []
    for number in range(options.ramp_rates):
        rate = options.rate_bytes_per_second + number * options.ramp_step_bytes_per_second
        datagrams = max(1, round(rate * options.duration_seconds / options.datagram_bytes))
        found.append(Pace(f"-{number + 1}" if options.ramp_rates > 1 else "", rate, datagrams, number))
    return found


def _pace_of(options: StreamOptions, step: Step) -> Pace:
    return next(pace for pace in _paces(options) if pace.suffix == "".join(step.name.partition("-")[1:]))


def _whole(place: Place) -> int | None:
    return place.target_id if place.target_count == 1 else None


def _is_direct(options: StreamOptions, places: Sequence[Place]) -> bool:
    return options.direct and all(place.direct_works for place in places)


def _direct_files(options: StreamOptions, places: Sequence[Place]) -> tuple[Path, ...]:
    return tuple(place.directory for place in places) if _is_direct(options, places) else ()


def _receive(options: StreamOptions, places: Sequence[Place], pace: Pace) -> Step:
    data_bytes = pace.datagrams * options.datagram_bytes
    # A stream shorter than its file needs only the stream's space.
    file_bytes = min(options.file_size_bytes, stream_wire.chunk_bytes(options.datagram_bytes, data_bytes))
    return Step(
        name=f"receive{pace.suffix}",
        phase=_phase(options, pace),
        argv=(
            *_load("stream_receive.py"),
            *_between(places, pace),
            f"--datagram-bytes={options.datagram_bytes}",
            f"--socket-buffer-bytes={options.socket_buffer_bytes}",
            f"--ring-bytes={options.ring_bytes}",
            f"--file-bytes={file_bytes}",
            *([f"--kept-files={options.kept_files}"] if options.files == "recycle" else []),
            *(["--single"] if options.files == "single" else []),
            *_most_of_each(options, places, data_bytes),
            *(["--keep"] if options.verify else []),
            *([f"--stop-file={places[0].scratch / 'stream-lost'}"] if options.ramp_rates > 1 else []),
            *_recorded(options, places),
        ),
        target_id=places[0].target_id,
        role=StepRole.RECEIVER,
        bytes_moved=data_bytes,
        before=Before.SYNC,
        stop_signal=signal.SIGINT,
        socket=None if places[0].endpoint is None else pace.number,
        direct_files=_direct_files(options, places),
    )


def _most_of_each(options: StreamOptions, places: Sequence[Place], data_bytes: int) -> list[str]:
    if len(places) == 1 or options.files == "recycle":
        return []
    return [f"--most-bytes={ceil(min(1.0, MOST_SHARE / len(places)) * data_bytes)}"]


def _send(options: StreamOptions, places: Sequence[Place], pace: Pace) -> Step:
    return Step(
        name=f"send{pace.suffix}",
        phase=_phase(options, pace),
        argv=(
            *_load("stream_send.py"),
            *_between(places, pace),
            *_patience(options, places, pace),
            f"--datagram-bytes={options.datagram_bytes}",
            f"--rate={pace.rate}",
            f"--datagrams={pace.datagrams}",
        ),
        target_id=places[0].target_id,
        role=StepRole.SENDER,
        bytes_moved=pace.datagrams * options.datagram_bytes,
        stop_signal=signal.SIGINT,
    )


def _verify(options: StreamOptions, places: Sequence[Place], pace: Pace) -> Step:
    data_bytes = pace.datagrams * options.datagram_bytes
    file_bytes = stream_wire.file_bytes(options.datagram_bytes, options.file_size_bytes)
    most_files = 1 if options.files == "single" else min(_MOST_DECLARED, data_bytes // file_bytes + 1)
    return Step(
        name=f"verify{pace.suffix}",
        phase=f"reading back the recording at {pace.rate // MEGABIT} Mbit/s",
        argv=(
            *_load("stream_verify.py"),
            *_stream(places, pace),
            f"--datagram-bytes={options.datagram_bytes}",
            f"--datagrams={pace.datagrams}",
            *_recorded(options, places),
        ),
        target_id=places[0].target_id,
        bytes_moved=data_bytes,
        before=Before.DROP,
        declared_files=tuple(
            place.directory / stream_wire.FILE_NAME.format(number)
            for place in places
            for number in range(1, most_files + 1)
        ),
        direct_files=_direct_files(options, places),
    )


def _phase(options: StreamOptions, pace: Pace) -> str:
    return f"recording {format_bytes(pace.datagrams * options.datagram_bytes)} at {pace.rate // MEGABIT} Mbit/s"


def _load(script: str) -> tuple[str, ...]:
    return sys.executable, "-I", "-S", str(_LOADS / script)


def _between(places: Sequence[Place], pace: Pace) -> tuple[str, ...]:
    if places[0].endpoint is not None:
        return _stream(places, pace)
    port = _FIRST_PORT + _number(places, pace) % _PORTS
    return f"--address={_ADDRESS}", f"--port={port}", *_stream(places, pace)


def _stream(places: Sequence[Place], pace: Pace) -> tuple[str, ...]:
    if places[0].endpoint is not None:
        return f"--endpoint-file={places[0].endpoint}", f"--number={pace.number}"
    return (f"--stream-id={_number(places, pace):016x}",)


def _patience(options: StreamOptions, places: Sequence[Place], pace: Pace) -> tuple[str, ...]:
    if places[0].endpoint is None:
        return ()
    waits_for_reader = options.verify and pace.number > 0
    return (f"--patience-seconds={_ENDLESS_SECONDS if waits_for_reader else _PATIENCE_SECONDS:.0f}",)


def _number(places: Sequence[Place], pace: Pace) -> int:
    return int.from_bytes(hashlib.sha256(f"{places[0].directory} {pace.rate}".encode()).digest()[:8])


def _recorded(options: StreamOptions, places: Sequence[Place]) -> tuple[str, ...]:
    directories = tuple(str(place.directory) for place in places)
    return ("--direct", *directories) if _is_direct(options, places) else directories

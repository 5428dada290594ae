"""Reports of a stream's sender, receiver and reader, each checked for consistency and against the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Curve, Labels, OutputRefusedError, Parsed, Place, Sample, StepOutcome
from iotide_agent.workloads.stream_options import MEGABIT
from iotide_wire.measured import Answer, Flag, FlagCode
from iotide_wire.units import format_bytes, format_number, format_percent, format_seconds

CLOCK_SECONDS: Final = 1e-9
HELD_RATIO: Final = 0.99
"""A sender below this share of its rate did not hold it."""
LAG_SECONDS: Final = 0.1
"""A sender with a larger lag sent its overdue datagrams in a burst."""

Count = Annotated[int, Field(ge=0, le=2**53)]
Some = Annotated[int, Field(gt=0, le=2**53)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
SomeSeconds = Annotated[float, Field(ge=1e-9, le=1e9, allow_inf_nan=False)]


class _Printed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Skipped(_Printed):
    """Rate that was skipped, because a lower rate of the ramp had losses."""

    role: Literal["sender", "receiver", "verifier"]
    skipped: Literal[True]


class SentBySecond(_Printed):
    sent: list[Count]
    largest_lag_seconds: list[Seconds]


class Sent(_Printed):
    role: Literal["sender"]
    datagram_bytes: Some
    planned: Some
    sent: Count
    seconds: SomeSeconds
    largest_lag_seconds: Seconds
    by_second: SentBySecond

    @model_validator(mode="after")
    def _seconds_add_up(self) -> Self:
        if sum(self.by_second.sent) != self.sent or self.sent > self.planned:
            raise ValueError("the values per second do not add up to what was sent")
        return self


class ReceivedBySecond(_Printed):
    received: list[Count]
    missing: list[Annotated[int, Field(ge=-(2**53), le=2**53)]]
    duplicates: list[Count]
    reordered: list[Count]
    late: list[Count]
    kernel_drops: list[Count]
    ring_bytes: list[Count]


class Received(_Printed):
    role: Literal["receiver"]
    ended: Literal["complete", "stragglers", "silence", "signal", "write_error"]
    error: str | None
    datagram_bytes: Some
    chunk_bytes: Some
    total: Count | None
    sent_seconds: Seconds | None = None  # missing in reports of revision 2, before streams between nodes
    received: Some
    duplicates: Count
    reordered: Count
    late: Count
    foreign: Count
    kernel_drops: Count
    kernel_drops_while_full: Count
    full_seconds: Seconds
    socket_buffer_bytes: Count
    ring_high_water: Count
    longest_write_seconds: Seconds
    receive_seconds: Seconds
    record_seconds: SomeSeconds
    written_bytes: list[Count]
    kept_bytes: list[Count]
    by_second: ReceivedBySecond

    @model_validator(mode="after")
    def _parts_add_up(self) -> Self:
        for name in ("received", "duplicates", "reordered", "late"):
            if sum(getattr(self.by_second, name)) != getattr(self, name):
                raise ValueError(f"the values per second do not add up to {name}")
        if self.error is None and sum(self.written_bytes) != self.received * self.datagram_bytes:
            raise ValueError("written_bytes do not match the received datagrams")
        if self.kernel_drops_while_full > self.kernel_drops:
            raise ValueError("kernel_drops_while_full is larger than kernel_drops")
        return self


class Verified(_Printed):
    role: Literal["verifier"]
    datagrams: Some
    unique: Count
    foreign: Count
    read_bytes: Some
    seconds: SomeSeconds


_ReportT = TypeVar("_ReportT", Sent, Received, Verified)


def read_report(kind: type[_ReportT], outcome: StepOutcome) -> _ReportT | None:
    """Return a step's report, None for a skipped one; raise OutputRefusedError."""
    text = outcome.stdout
    if '"skipped"' in text:
        _validated(Skipped, outcome)
        return None
    return _validated(kind, outcome)


_PrintedT = TypeVar("_PrintedT", bound=_Printed)


def _validated(kind: type[_PrintedT], outcome: StepOutcome) -> _PrintedT:
    try:
        return kind.model_validate_json(outcome.stdout)
    except ValidationError as error:
        problem = "; ".join(f"{'.'.join(map(str, part['loc']))} {part['msg']}" for part in error.errors()[:3])
        problem = f"the report contradicts itself: {problem}"
        raise OutputRefusedError(outcome.step.name, problem, outcome.stdout) from error


@dataclass(frozen=True, slots=True)
class Pace:
    """One rate of a stream in bytes per second; `suffix` ends its steps' names, `number` counts from 0."""

    suffix: str
    rate: int
    datagrams: int
    number: int = 0

    @property
    def labels(self) -> Labels:
        return {"rate_bytes_per_second": self.rate}


def sent_parsed(sent: Sent, pace: Pace, outcome: StepOutcome, target_id: int | None) -> Parsed:
    if sent.sent != pace.datagrams:
        raise OutputRefusedError(outcome.step.name, f"the plan was to send {pace.datagrams} datagrams", outcome.stdout)
    samples = [
        Sample("throughput", _sent_rate(sent), {"operation": "send"} | pace.labels, target_id),
        Sample("datagrams_sent", float(sent.sent), pace.labels, target_id),
        Sample("sender_lag", sent.largest_lag_seconds, pace.labels, target_id),
    ]
    return Parsed(samples, _lag_flags(sent, pace), _sent_curves(sent, outcome))


def received_samples(received: Received, pace: Pace, outcome: StepOutcome, target_id: int | None) -> list[Sample]:
    labels = _recorded_labels(pace, outcome)
    written_bytes = sum(received.written_bytes)
    values = {
        "datagrams_received": received.received,
        "datagrams_duplicated": received.duplicates,
        "datagrams_reordered": received.reordered,
        "datagrams_late": received.late,
        "socket_buffer": received.socket_buffer_bytes,
        "ring_high_water": received.ring_high_water * received.chunk_bytes,
        "writer_stall": received.longest_write_seconds,
    }
    return [
        Sample("throughput", written_bytes / received.record_seconds, {"operation": "record"} | labels, target_id),
        *(Sample(metric, float(value), labels, target_id) for metric, value in values.items()),
    ]


def received_curves(received: Received, outcome: StepOutcome) -> list[Curve]:
    columns, seconds = received.by_second, int(received.receive_seconds)
    counts = {
        # Negative if datagrams arrived that were missing a second before.
        "missing": columns.missing,
        "dropped": columns.kernel_drops,
        "duplicated": columns.duplicates,
        "reordered": columns.reordered,
        "late": columns.late,
    }
    values: dict[str, Sequence[float]] = {
        "stream_received_bytes_per_second": [count * received.datagram_bytes for count in columns.received[:seconds]],
        "stream_ring_bytes": columns.ring_bytes[:seconds],
        # Includes the last, short second: its values are small, but the curve then adds up to the totals.
        **{f"stream_{what}_datagrams_per_second": column[: seconds + 1] for what, column in counts.items()},
    }
    # The process first meets its sender, and ends right after the last flush.
    return _curves(values, outcome, outcome.wall_seconds - received.record_seconds)


def _sent_curves(sent: Sent, outcome: StepOutcome) -> list[Curve]:
    seconds = int(sent.seconds)
    values: dict[str, Sequence[float]] = {
        "stream_sent_bytes_per_second": [count * sent.datagram_bytes for count in sent.by_second.sent[:seconds]],
        "stream_sender_lag_seconds": sent.by_second.largest_lag_seconds,
    }
    # The process first meets its receiver. How long it announces its end is unknown, but below 0.2 s.
    return _curves(values, outcome, outcome.wall_seconds - sent.seconds)


def _curves(values: Mapping[str, Sequence[float]], outcome: StepOutcome, after_seconds: float) -> list[Curve]:
    began_at = outcome.started_at + timedelta(seconds=max(0.0, after_seconds))
    return [Curve(counter, began_at, tuple(map(float, column))) for counter, column in values.items()]


def received_flags(
    received: Received, pace: Pace, outcome: StepOutcome, asked_buffer_bytes: int, place: Place
) -> list[Answer]:
    direct = was_direct(outcome)
    flags = quality.judge_duration("the stream", received.receive_seconds, CLOCK_SECONDS)
    flags += quality.judge_cache_size(place, sum(received.written_bytes) // place.target_count, direct=direct)
    if received.socket_buffer_bytes < asked_buffer_bytes:
        measured = f"the kernel granted a socket buffer of {format_bytes(received.socket_buffer_bytes)}"
        limit = f"{format_bytes(asked_buffer_bytes)}: raise net.core.rmem_max, or give the agent CAP_NET_ADMIN"
        flags.append(quality.marked(FlagCode.CLIENT_BOUND, measured, limit))
    return [flag.model_copy(update={"labels": pace.labels}) if isinstance(flag, Flag) else flag for flag in flags]


def verified_samples(verified: Verified, pace: Pace, outcome: StepOutcome, target_id: int | None) -> list[Sample]:
    labels = {"operation": "verify"} | _recorded_labels(pace, outcome)
    return [Sample("throughput", verified.read_bytes / verified.seconds, labels, target_id)]


@dataclass(frozen=True, slots=True)
class Ends:
    """Reports at one rate. `sent` is the sender's own count if available; `sent_rate` is None without its report."""

    pace: Pace
    sent: int
    sent_rate: float | None
    received: Received
    verified: Verified | None
    labels: Labels

    @classmethod
    def of(cls, pace: Pace, outcomes: Mapping[str, StepOutcome]) -> Self | None:
        """Return the reports at one rate; None if the ramp ended before it.

        A sender on another node announces count and time at its end. Without that, it sent what was planned, or its
        part of the run fails anyway.
        """
        receive, send = outcomes[f"receive{pace.suffix}"], outcomes.get(f"send{pace.suffix}")
        received = read_report(Received, receive)
        sent = read_report(Sent, send) if send else None
        if received is None or (send and sent is None):
            return None
        verify = outcomes.get(f"verify{pace.suffix}")
        verified = read_report(Verified, verify) if verify else None
        labels = _recorded_labels(pace, receive)
        if sent is not None:
            return cls(pace, sent.sent, _sent_rate(sent), received, verified, labels)
        total = pace.datagrams if received.total is None else received.total
        rate = total * received.datagram_bytes / received.sent_seconds if received.sent_seconds else None
        return cls(pace, total, rate, received, verified, labels)

    @property
    def lost(self) -> int:
        return max(0, self.sent - self.received.received)

    @property
    def is_lossless(self) -> bool:
        return not self.lost and not self._problems()

    @property
    def is_held(self) -> bool:
        return self.sent_rate is not None and self.sent_rate >= HELD_RATIO * self.pace.rate

    def samples(self, target_id: int | None) -> list[Sample]:
        values = [Sample("datagrams_lost", float(self.lost), self.labels, target_id)]
        for cause, count in self._lost_by_cause().items():
            values.append(Sample("datagrams_lost", float(count), self.labels | {"cause": cause}, target_id))
        return [*values, Sample("loss_ratio", self.lost / self.sent, self.labels, target_id)]

    def samples_by_target(self, places: Sequence[Place]) -> list[Sample]:
        labels, seconds = {"operation": "record"} | self.labels, self.received.record_seconds
        return [
            Sample("target_throughput", written_bytes / seconds, labels, place.target_id)
            for place, written_bytes in zip(places, self.received.written_bytes, strict=True)
        ]

    def flags(self) -> list[Answer]:
        flags = [quality.rejected(FlagCode.ERRORS, problem, "both ends agree") for problem in self._problems()]
        elsewhere = self.lost - self._lost_by_cause()["ring"]
        if elsewhere:
            measured = f"{elsewhere} of {self.lost} lost datagrams never reached the recorder"
            flags.append(quality.marked(FlagCode.CLIENT_BOUND, measured, "losses while the ring was full"))
        return [flag.model_copy(update={"labels": self.pace.labels}) for flag in flags]

    def _lost_by_cause(self) -> dict[str, int]:
        """Return losses by cause: the kernel reports its drops, and the rest never reached the socket."""
        ring = min(self.lost, self.received.kernel_drops_while_full)
        at_socket = min(self.lost, self.received.kernel_drops) - ring
        return {"ring": ring, "socket_buffer": at_socket, "network": self.lost - ring - at_socket}

    def _problems(self) -> list[str]:
        sent, received, verified = self.sent, self.received, self.verified
        problems = []
        if received.total not in {None, sent}:
            problems.append(f"the sender sent {sent} datagrams but announced {received.total} to the receiver")
        if received.received > sent:
            problems.append(f"{received.received} different datagrams were received but {sent} were sent")
        kept = sum(received.kept_bytes) // received.datagram_bytes
        if verified and (verified.unique, verified.datagrams, verified.foreign) != (kept, kept, 0):
            problems.append(
                f"{kept} datagrams were recorded; the files hold {verified.datagrams}, {verified.unique} of them "
                f"different, {verified.foreign} broken or not of the stream"
            )
        return problems


def _recorded_labels(pace: Pace, outcome: StepOutcome) -> Labels:
    return pace.labels | {"direct": was_direct(outcome)}


def was_direct(outcome: StepOutcome) -> bool:
    return "--direct" in outcome.step.argv and not outcome.cached_because


def _sent_rate(sent: Sent) -> float:
    return sent.sent * sent.datagram_bytes / sent.seconds


def _lag_flags(sent: Sent, pace: Pace) -> list[Answer]:
    rate = _sent_rate(sent)
    if rate >= HELD_RATIO * pace.rate and sent.largest_lag_seconds <= LAG_SECONDS:
        return []
    measured = (
        f"sent at {format_number(rate / MEGABIT)} of {format_number(pace.rate / MEGABIT)} Mbit/s, up to "
        f"{format_seconds(sent.largest_lag_seconds)} behind schedule"
    )
    limit = f"{format_percent(HELD_RATIO)} of the rate, lag of {format_seconds(LAG_SECONDS)}"
    return [quality.marked(FlagCode.CLIENT_BOUND, measured, limit, pace.labels)]

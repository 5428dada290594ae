"""Validation of results before storage."""

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final

from iotide_server.kit.errors import InvalidInputError, IotideError
from iotide_server.results.errors import (
    ARTEFACT_TOO_LARGE,
    DIGEST_MISMATCH,
    LABEL_NOT_DECLARED,
    METRIC_NOT_DECLARED,
    REPORT_TOO_LARGE,
    TARGET_NOT_MEASURED,
)
from iotide_server.results.ingest.curves import Stretch
from iotide_server.results.ingest.keys import Label
from iotide_server.results.ingest.limits import DEFAULTS, LONGEST_LABEL_VALUE, ReportLimits
from iotide_wire.catalogue import MetricSpec
from iotide_wire.measured import Flag, SampleMessage, StepRecord
from iotide_wire.messages import CurvePiece, FinishRequest
from iotide_wire.units import MIB

MAX_ARTEFACT_BYTES = 16 * MIB
_SHORTEST_STEP_SECONDS = 0.001
_LONGEST_STEP_SECONDS = 86_400.0
_YEARS = range(1970, 9000)  # within the calendar, also for sums
SMALLEST_VALUE: Final = 1e-30
LARGEST_VALUE: Final = 1e30
"""Bounds of values other than 0; their sums, squares and ratios stay finite."""
_LARGEST_LABEL: Final = 1e18
"""An exabyte, or the age of the universe in seconds."""
_LARGEST_INTEGER: Final = 2**63 - 1
_LONGEST_STEP_RUN_SECONDS: Final = 1_000_000_000
_FEWER_VALUES = "report fewer, or ask the server's administrator to raise the limit (docs/isolation.md)"


def check_samples(
    samples: Sequence[SampleMessage],
    metrics: Mapping[str, MetricSpec],
    target_ids: frozenset[int],
    field: str = "samples",
) -> None:
    """Reject samples that the workload's announcement or the run's targets do not cover."""
    for index, sample in enumerate(samples):
        metric = metrics.get(sample.metric)
        if metric is None:
            raise METRIC_NOT_DECLARED(field=f"{field}[{index}].metric", metric=sample.metric, declared=metrics)
        undeclared = sorted(sample.labels.keys() - set(metric.labels))
        if undeclared:
            raise LABEL_NOT_DECLARED(
                field=f"{field}[{index}].labels.{undeclared[0]}",
                metric=metric.name,
                label=undeclared[0],
                value=sample.labels[undeclared[0]],
                declared=", ".join(metric.labels) or "no label",
            )
        _check_target(sample.target_id, target_ids, f"{field}[{index}].target_id")
        if sample.value and not SMALLEST_VALUE <= abs(sample.value) <= LARGEST_VALUE:
            words = f"{sample.value} of {sample.metric} is outside the range of measured values"
            remedy = f"send 0, or a number between {SMALLEST_VALUE} and {LARGEST_VALUE}, in the metric's base unit"
            raise _not_measured(f"{field}[{index}].value", words, sample.value, remedy)


def too_large(what: str, field: str, count: int, limit: int, remedy: str = _FEWER_VALUES) -> IotideError:
    return REPORT_TOO_LARGE(what=what, field=field, count=count, limit=limit, remedy=remedy)


def _not_measured(field: str, words: str, value: object, remedy: str) -> InvalidInputError:
    return InvalidInputError(f"{field}: {words}", field=field, value=value, remedy=remedy)


def _check_target(target_id: int | None, target_ids: frozenset[int], field: str) -> None:
    if target_id is not None and target_id not in target_ids:
        raise TARGET_NOT_MEASURED(field=field, target_id=target_id, target_ids=target_ids)


def check_flags(
    flags: Sequence[Flag], target_ids: frozenset[int], limits: ReportLimits = DEFAULTS, field: str = "flags"
) -> None:
    """Reject flags with other targets or invalid labels, or too many bytes of flags."""
    for index, flag in enumerate(flags):
        _check_target(flag.target_id, target_ids, f"{field}[{index}].target_id")
        _check_labels(flag.labels, limits, f"{field}[{index}].labels")
    size = sum(len(flag.model_dump_json().encode()) for flag in flags)
    if size > limits.flag_bytes:
        raise too_large("bytes of flags", field, size, limits.flag_bytes)


def check_steps(steps: Sequence[StepRecord], target_ids: frozenset[int]) -> None:
    """Reject steps with impossible numbers or other targets."""
    for index, step in enumerate(steps):
        _check_target(step.target_id, target_ids, f"steps[{index}].target_id")
        for name in ("wall_seconds", "user_seconds", "system_seconds"):
            _check_between(getattr(step, name), _LONGEST_STEP_RUN_SECONDS, f"steps[{index}].{name}")
        for name in ("writer", "max_rss_bytes", "exit_status", "signal"):
            _check_between(abs(getattr(step, name) or 0), _LARGEST_INTEGER, f"steps[{index}].{name}")


def _check_between(value: float, largest: float, field: str) -> None:
    if not 0 <= value <= largest:  # also rejects NaN
        words = f"{_shown(value)} is not between 0 and {largest}"
        raise _not_measured(field, words, _shown(value), "send the value that the kernel counted")


def _shown(value: float) -> str:
    try:
        return str(value)
    except ValueError:
        return "a number with thousands of digits"


def check_size(samples: Sequence[SampleMessage], limits: ReportLimits = DEFAULTS, field: str = "samples") -> None:
    if len(samples) > limits.samples:
        raise too_large("samples", field, len(samples), limits.samples)
    series: set[tuple[object, ...]] = set()
    values: dict[str, set[Label]] = defaultdict(set)
    for index, sample in enumerate(samples):
        place = f"{field}[{index}].labels"
        _check_labels(sample.labels, limits, place)
        for name, value in sample.labels.items():
            values[name].add(value)
            if len(values[name]) > limits.label_values:
                words = f"values of the label {name}"
                raise too_large(words, f"{place}.{name}", len(values[name]), limits.label_values)
        series.add((sample.metric, sample.target_id, *sorted(sample.labels.items())))
        if len(series) > limits.series:
            raise too_large("series", field, len(series), limits.series)


def check_described(finish: FinishRequest, limits: ReportLimits = DEFAULTS) -> None:
    bounds = (
        (("flags", "not_judged"), limits.flag_bytes),
        (("steps",), limits.step_bytes),
        (("environment", "foreign"), limits.fact_bytes),
    )
    for fields, most in bounds:
        size = len(finish.model_dump_json(include=set(fields)).encode())
        if size > most:
            raise too_large(f"bytes of {' and '.join(fields)}", fields[0], size, most)


def _check_labels(labels: Mapping[str, Label], limits: ReportLimits, place: str) -> None:
    if len(labels) > limits.labels:
        raise too_large("labels of a value", place, len(labels), limits.labels)
    for name, value in labels.items():
        length = len(value) if isinstance(value, str) else 0
        if length > LONGEST_LABEL_VALUE:
            remedy = "use a shorter text"
            raise too_large("characters of a label", f"{place}.{name}", length, LONGEST_LABEL_VALUE, remedy)
        if isinstance(value, int | float) and not abs(value) <= _LARGEST_LABEL:  # also rejects NaN
            words = f"{_shown(value)} is beyond {_LARGEST_LABEL}"
            raise _not_measured(f"{place}.{name}", words, _shown(value), "use a smaller number or a text")


def check_curve(piece: CurvePiece) -> Stretch:
    values = tuple(array("f", piece.values))
    for given, kept in zip(piece.values, values, strict=True):
        if not isfinite(kept):
            raise InvalidInputError(
                f"curve {piece.counter}: {given} is not a finite 32-bit number",
                field="curves.values",
                value=given,
                remedy="omit what was not measured and start a new piece after it",
            )
    if not _SHORTEST_STEP_SECONDS <= piece.step_seconds <= _LONGEST_STEP_SECONDS or piece.started_at.year not in _YEARS:
        raise InvalidInputError(
            f"curve {piece.counter}: steps of {piece.step_seconds} s from {piece.started_at} on are out of range",
            field="curves.started_at",
            value=piece.started_at,
            remedy="check the node's clock and the sampler's step",
        )
    return Stretch(piece.started_at, piece.step_seconds, values)


def check_artefact(name: str, sha256: str, content: bytes) -> None:
    if len(content) > MAX_ARTEFACT_BYTES:
        raise ARTEFACT_TOO_LARGE(name=name, size_bytes=len(content), limit_bytes=MAX_ARTEFACT_BYTES)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DIGEST_MISMATCH(name=name, found=found, sha256=sha256)

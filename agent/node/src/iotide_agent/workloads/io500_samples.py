"""Samples and quality flags of an IO500 run: each phase, the two means and the score."""

import re
from collections.abc import Iterator
from typing import Final

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Parsed, Sample
from iotide_agent.workloads.io500_report import Io500Phase, Io500Result
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import format_seconds

CLOCK_SECONDS: Final = 2.0
"""Begin and end are printed in whole seconds."""
_RULES: Final = "the rules of the IO500"
_WRONG: Final = re.compile(r"Errors \(|returned with an error|find anything|Exit code|score shouldn't be 0")
"""Reasons for which a phase's value is no measurement. The others say that the plan was too small."""


def read_samples(result: Io500Result, series: str, target_id: int | None) -> Parsed:
    """Return the samples of all phases, and the means and score of the run.

    The label `series` keeps short runs apart, whose score must not be compared with published ones.
    """
    samples = [sample for phase in result.phases for sample in phase_samples(phase, series, target_id)]
    values = {"mean_throughput": result.bandwidth, "mean_operation_rate": result.metadata, "score": result.score}
    samples += (Sample(metric, value, {"series": series}, target_id) for metric, value in values.items())
    return Parsed(samples, list(_flags(result, series, target_id)))


def phase_samples(phase: Io500Phase, series: str, target_id: int | None) -> list[Sample]:
    """Return `throughput` or `operation_rate` first, then `duration`; nothing of a phase without a value."""
    if not phase.is_measured:
        return []
    labels = {"operation": phase.name, "series": series}
    metric = "throughput" if phase.is_bandwidth else "operation_rate"
    samples = [Sample(metric, phase.value, labels, target_id)]
    if phase.seconds is not None:
        samples.append(Sample("duration", phase.seconds, labels, target_id))
    return samples


def _flags(result: Io500Result, series: str, target_id: int | None) -> Iterator[Flag]:
    for reason in result.run_reasons:
        yield quality.marked(FlagCode.DURATION, reason, _RULES, {"series": series}, target_id)
    if not result.is_valid and not result.reasons:
        measured = "the score is marked [INVALID], without a reason"
        yield quality.marked(FlagCode.ERRORS, measured, _RULES, {"series": series}, target_id)
    for phase in result.phases:
        labels = {"operation": phase.name, "series": series}
        for reason in phase.reasons:
            code = FlagCode.ERRORS if _WRONG.search(reason) else FlagCode.DURATION
            yield quality.marked(code, f"{phase.name}: {reason}", _RULES, labels, target_id)
        if _is_odd(phase):
            measured = f"{phase.name} took {format_seconds(phase.seconds or 0.0)} by the program's clock, "
            measured += f"{format_seconds(phase.clock_seconds or 0.0)} by the time of day"
            limit = f"a difference of {format_seconds(CLOCK_SECONDS)}"
            yield quality.marked(FlagCode.TIME_SET, measured, limit, labels, target_id)


def _is_odd(phase: Io500Phase) -> bool:
    if phase.seconds is None or phase.clock_seconds is None:
        return False
    return abs(phase.seconds - phase.clock_seconds) > CLOCK_SECONDS

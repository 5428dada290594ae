"""CLIENT_BOUND: the node's CPUs or link were the limit."""

from typing import Final

from iotide_agent.judging.phases import NETWORK, ParallelSteps
from iotide_agent.workloads.base import Place, StepOutcome
from iotide_wire.measured import Answer, Check, FlagCode, StepRole
from iotide_wire.units import format_percent, format_seconds

BUSY_LIMIT: Final = 0.9
_SHORTEST_SECONDS: Final = 1.0
"""The kernel may count CPU time in ticks of 10 ms, a hundredth of this."""
_SENT: Final = frozenset({StepRole.SENDER, StepRole.RECEIVER})


def judge_client(phase: ParallelSteps, places: tuple[Place, ...]) -> list[Answer]:
    """Mark a phase in which all CPUs, the threads of a step, or the link were busy above 90 %.

    A thread fills one CPU at most, so a load of one thread is limited long before the node is. The link counts for
    network mounts and streams, but only if the node's links carried about the bytes of the phase: the node may have
    other links, and RDMA is not counted.
    """
    limit = f"{format_percent(BUSY_LIMIT)}; not a storage limit"
    user, system = phase.mean("cpu_user_ratio"), phase.mean("cpu_system_ratio")
    link = phase.mean("net_link_ratio") if _goes_through_link(phase, places) else None
    found = [_full_threads(outcome, places) for outcome in phase.outcomes]
    if user is not None and system is not None and user + system > BUSY_LIMIT:
        found.append(f"all CPUs of the node were busy {format_percent(user + system)} of the time")
    if link is not None and link > BUSY_LIMIT:
        found.append(f"the busiest link carried {format_percent(link)} of its speed")
    flags: list[Answer] = [phase.marked(FlagCode.CLIENT_BOUND, measured, limit) for measured in found if measured]
    return flags or _unseen(phase, places)


def _unseen(phase: ParallelSteps, places: tuple[Place, ...]) -> list[Answer]:
    missing = [phase.too_short] if phase.too_short else _uncounted(phase, places)
    steps = [outcome for outcome in phase.outcomes if outcome.step.threads is not None]
    if steps and not isinstance(_processors(places), int):
        missing.append("the number of CPUs is unknown")
    short = [outcome.wall_seconds for outcome in steps if outcome.wall_seconds < _SHORTEST_SECONDS]
    if short:
        missing.append(f"a step took {format_seconds(min(short))}, {format_seconds(_SHORTEST_SECONDS)} needed")
    return [phase.not_judged(Check.CLIENT_LIMIT, "; ".join(missing))] if missing else []


def _uncounted(phase: ParallelSteps, places: tuple[Place, ...]) -> list[str]:
    missing = []
    if phase.mean("cpu_user_ratio") is None or phase.mean("cpu_system_ratio") is None:
        missing.append("the node does not count CPU time")
    if _goes_through_link(phase, places) and phase.mean("net_link_ratio") is None:
        missing.append("the speed of the link is unknown")
    return missing


def _processors(places: tuple[Place, ...]) -> object:
    return next((place.facts.get("cpu.count") for place in places), None)


def _full_threads(outcome: StepOutcome, places: tuple[Place, ...]) -> str:
    step, seconds, processors = outcome.step, outcome.wall_seconds, _processors(places)
    if step.threads is None or seconds < _SHORTEST_SECONDS or not isinstance(processors, int):
        return ""
    most = min(step.threads, processors)
    busy = (outcome.user_seconds + outcome.system_seconds) / seconds / most
    if busy <= BUSY_LIMIT:
        return ""
    of_what = "its one thread" if step.threads == 1 else f"its {step.threads} threads on {processors} CPUs"
    return f"{of_what} worked {format_percent(busy)} of the time in {step.name}"


def _goes_through_link(phase: ParallelSteps, places: tuple[Place, ...]) -> bool:
    is_stream = any(outcome.step.role in _SENT for outcome in phase.outcomes)
    may_go = is_stream or any("network.interface" in place.facts for place in places)
    return may_go and phase.explains(phase.values(*NETWORK))

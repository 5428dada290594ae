"""CLIENT_BOUND: whether the node's processors or its link were the limit instead of the storage."""

from typing import Final

from iotide_agent.judging.phases import NETWORK, Phase
from iotide_agent.workloads.base import Place, StepOutcome
from iotide_wire.measured import Flag, FlagCode, StepRole

BUSY_LIMIT: Final = 0.9
_SHORTEST_SECONDS: Final = 1.0
"""The kernel may count processor time in ticks of 10 ms, which is a hundredth of this."""
_SENT: Final = frozenset({StepRole.SENDER, StepRole.RECEIVER})


def judge_client(phase: Phase, places: tuple[Place, ...]) -> list[Flag]:
    """Marks a phase in which all processors, the threads of one of its steps, or the link were busy above 90 %.

    A thread fills one processor at most, so a load of one thread is bound long before the node is. How many work is the
    plug-in's word; where it has none, only the whole node is judged. What a step used is from wait4, exact to a tick.
    The link counts where the run goes through it, a mount that names a server or a stream, and where the node's links
    carried about the bytes of the phase: a node may have others than the one to its storage, and RDMA is not seen.
    """
    limit = f"{BUSY_LIMIT:.0%}; not a storage limit"
    found = [_full_threads(outcome, places) for outcome in phase.outcomes]
    user, system = phase.mean("cpu_user_ratio"), phase.mean("cpu_system_ratio")
    if user is not None and system is not None and user + system > BUSY_LIMIT:
        found.append(f"all processors of the node were busy {user + system:.0%} of the time")
    link = phase.mean("net_link_ratio") if _goes_through_link(phase, places) else None
    if link is not None and link > BUSY_LIMIT:
        found.append(f"the busiest link carried {link:.0%} of its speed")
    return [phase.marked(FlagCode.CLIENT_BOUND, measured, limit) for measured in found if measured]


def _full_threads(outcome: StepOutcome, places: tuple[Place, ...]) -> str:
    step, seconds = outcome.step, outcome.wall_seconds
    processors = next((place.facts.get("cpu.count") for place in places), None)
    if step.threads is None or seconds < _SHORTEST_SECONDS or not isinstance(processors, int):
        return ""
    most = min(step.threads, processors)
    busy = (outcome.user_seconds + outcome.system_seconds) / seconds / most
    if busy <= BUSY_LIMIT:
        return ""
    of_what = "its one thread" if step.threads == 1 else f"its {step.threads} threads on {processors} processors"
    return f"{of_what} worked {busy:.0%} of the time in {step.name}"


def _goes_through_link(phase: Phase, places: tuple[Place, ...]) -> bool:
    is_stream = any(outcome.step.role in _SENT for outcome in phase.outcomes)
    may_go = is_stream or any("network.interface" in place.facts for place in places)
    return may_go and phase.explains(phase.values(*NETWORK))

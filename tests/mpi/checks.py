"""Rules for a run of one program, checked against the program's own log, the target and the hosts' processes."""

from collections.abc import Sequence
from typing import Any, Final

from mpi.mpi_site import TASKS, TRANSFER_BYTES, Mark, MpiSite
from mpi.tally import Tally

GONE_SECONDS: Final = 3.0
_STEPS: Final = ("write", "read")
_RATIO: Final = 1e-6


def name_of(site: MpiSite, run: dict[str, Any]) -> str:
    return f"{site.cluster}, run {run['id']}"


def check_whole(
    site: MpiSite,
    tally: Tally,
    run: dict[str, Any],
    marks: Sequence[Mark],
    *,
    nodes: int = 4,
    tasks: int = TASKS,
    transfers: int = 32,
) -> bool:
    """Check that a run is one job over its hosts, and that its results are all that the ranks moved, once."""
    name = name_of(site, run)
    if not tally.require(run["state"] == "finished", f"{name} is {run['state']}: {run['reason']}"):
        return False
    planned_bytes = nodes * tasks * transfers * TRANSFER_BYTES
    launches = _last_launches(marks)
    if not tally.require(len(launches) == len(_STEPS), f"{name} started {len(launches)} launchers"):
        return False
    hosts = {host.name for host in site.hosts[:nodes]}
    is_right = True
    for step, noted in zip(_STEPS, launches, strict=True):
        ranks = sorted(mark.rank for mark in noted if mark.event == "barrier")
        is_right &= tally.require(ranks == [*range(nodes * tasks)], f"{name}, {step}: ranks {ranks}")
        is_right &= tally.require(
            {mark.host for mark in noted if mark.event == "barrier"} == hosts, f"{name}, {step}: not on all hosts"
        )
        moved = {kind: _moved(noted, kind) for kind in ("wrote", "has_read")}
        expected = {"wrote": planned_bytes * (step == "write"), "has_read": planned_bytes * (step == "read")}
        is_right &= tally.require(moved == expected, f"{name}, {step}: the ranks moved {moved}, planned {expected}")
        counted = _counted_bytes(run, step)
        is_right &= tally.require(
            counted is not None and abs(counted - planned_bytes) <= _RATIO * planned_bytes,
            f"{name}, {step}: {counted} bytes are in the results, planned {planned_bytes}",
        )
    tally.wrong_totals += not is_right
    _check_drops(tally, name, launches, hosts)
    _check_orders(tally, name, run)
    check_gone(site, tally, run)
    return is_right


def check_failed(
    site: MpiSite, tally: Tally, run: dict[str, Any], because: str, *, transfers: int = 32, tasks: int = TASKS
) -> None:
    """Check that a run failed with a reason, that no result of it counts, and that those it has are of whole steps."""
    name = f"{name_of(site, run)}, {because}"
    has_reason = run["state"] == "failed" and bool(run["reason"])
    tally.require(has_reason, f"{name}: {run['state']}, {run['reason']}")
    figure = site.stack.get(f"/campaigns/{run['campaign_id']}/measurements", metric="throughput")["items"]
    counting = [one for cell in figure for one in cell["measurements"]]
    is_right = tally.require(not counting, f"{name}: {len(counting)} results of a failed run count")
    planned_bytes = len(site.hosts) * tasks * transfers * TRANSFER_BYTES
    for step in {sample["labels"].get("operation") for sample in run["samples"]}:
        counted = _counted_bytes(run, step)
        is_whole = counted is not None and abs(counted - planned_bytes) <= _RATIO * planned_bytes
        is_right &= tally.require(
            is_whole, f"{name}: {counted} bytes in the results of {step}, planned {planned_bytes}"
        )
    tally.wrong_totals += not is_right
    tally.ends[f"{because}: {run['reason_code']}"] += 1
    check_gone(site, tally, run)


def check_gone(site: MpiSite, tally: Tally, run: dict[str, Any]) -> None:
    """Check that no process of a run and none of its files are left."""
    left = site.wait_gone(run["id"], "", seconds=GONE_SECONDS)
    tally.orphans += len(left)
    shown = ", ".join(f"{process.name} on {host.name}" for host, process in left)
    tally.require(not left, f"{name_of(site, run)} left {shown}")
    files = site.wait_empty()
    tally.require(not files, f"{name_of(site, run)} left {', '.join(files)} on the target")


def seconds_to_barrier(marks: Sequence[Mark]) -> float:
    """Return the time from the start of the first launcher until its last rank left the first barrier."""
    first = _last_launches(marks)[0]
    return max(mark.seconds for mark in first if mark.event == "barrier") - first[0].seconds


def _last_launches(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Return the marks of the launchers of the last attempt, one list for each."""
    found: list[list[Mark]] = []
    for mark in marks:
        if mark.event == "launch":
            found.append([])
        if found:
            found[-1].append(mark)
    return found[-len(_STEPS) :]


def _moved(marks: Sequence[Mark], event: str) -> int:
    return sum(mark.moved_bytes for mark in marks if mark.event == event)


def _counted_bytes(run: dict[str, Any], step: str | None) -> float | None:
    """Return the total of the results: the rate of all tasks times their time."""
    heads = {order["id"] for order in run["attempts"][-1]["orders"] if order["step_role"] == "head"}
    own = [sample for sample in run["samples"] if sample["labels"].get("operation") == step]
    rates = [one["value"] for one in own if one["metric"] == "throughput" and "writer" not in one["labels"]]
    times = [one["value"] for one in own if one["metric"] == "duration" and one["labels"].get("part") == "total"]
    if len(rates) != 1 or len(times) != 1 or {sample["order_id"] for sample in run["samples"]} != heads:
        return None
    return float(rates[0] * times[0])


def _check_drops(tally: Tally, name: str, launches: Sequence[Sequence[Mark]], hosts: set[str]) -> None:
    """Check that each host emptied its cache before any rank read."""
    drops = [mark for noted in launches for mark in noted if mark.event == "drop"]
    reads = [mark.seconds for mark in launches[1] if mark.event == "read"]
    dropped = sorted(mark.host for mark in drops)
    if tally.require(dropped == sorted(hosts), f"{name}: caches were emptied on {', '.join(dropped)}"):
        early_seconds = max(mark.seconds for mark in drops) - min(reads, default=0.0)
        tally.require(early_seconds < 0, f"{name}: the first read was {early_seconds:.3f} s before the last drop")


def _check_orders(tally: Tally, name: str, run: dict[str, Any]) -> None:
    roles = [order["step_role"] for order in run["attempts"][-1]["orders"]]
    tally.require(sorted(roles) == ["head", *["member"] * (len(roles) - 1)], f"{name}: the nodes are {roles}")

"""The command `iotide run reparse`: parse kept raw output again, compare and send the new values."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_agent.cli.answers import Artefact, RawReading, ReadAgainRun, SampleAnswer
from iotide_agent.cli.api import Api
from iotide_agent.node.inventory import AGENT_VERSION
from iotide_agent.orders.reparsing import UnreadableError, read_order_again
from iotide_agent.workloads.registry import UnknownWorkloadError, workload
from iotide_wire.measured import Flag, SampleMessage
from iotide_wire.reading import OrderReading, RunReading

_UNREAD: Final = frozenset({"output_refused", "parser_fault"})
"""Reason codes of runs that failed only in their parser."""
_Key = tuple[str, tuple[tuple[str, Any], ...], int | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """Changed value; None where it is missing. The unit of a new metric is None."""

    metric: str
    labels: Mapping[str, Any]
    unit: str | None
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Reread:
    """Run that was parsed again.

    Attributes:
        reading: None, with `refused_because`, if the run cannot be parsed again.
        is_unread: True if the run failed because its output could not be parsed.
    """

    run_id: int
    reading: RunReading | None
    refused_because: str = ""
    differences: tuple[Difference, ...] = ()
    number_count: int = 0
    flags_gone: tuple[str, ...] = ()
    flags_new: tuple[str, ...] = ()
    former_revision: int = 0
    is_unread: bool = False

    @property
    def changes(self) -> bool:
        is_other = self.reading is not None and self.reading.workload_revision != self.former_revision
        return (
            is_other
            or (self.is_unread and self.reading is not None)
            or bool(self.differences or self.flags_gone or self.flags_new)
        )


def chosen_runs(api: Api, run_ids: Sequence[int], campaign: int | None, workload_name: str | None) -> Iterator[int]:
    """Yield the named runs, or those of a campaign that have output to parse, oldest first."""
    if campaign is None:
        yield from run_ids
        return
    finished = api.items("/runs", {"campaign_id": campaign, "state": "finished"})
    failed = api.items("/runs", {"campaign_id": campaign, "state": "failed"})
    found = [*finished, *(run for run in failed if run["reason_code"] in _UNREAD)]
    yield from sorted(int(run["id"]) for run in found if workload_name in {None, run["workload"]})


def read_run_again(api: Api, run_id: int) -> Reread:
    """Parse and compare, without a change on the server."""
    run = ReadAgainRun.of(api.get(f"/runs/{run_id}"))
    try:
        return _read(api, run)
    except (UnreadableError, UnknownWorkloadError) as error:
        return Reread(run_id, None, str(error))


def _read(api: Api, run: ReadAgainRun) -> Reread:
    is_unread = run.state == "failed" and run.reason_code in _UNREAD
    if run.state != "finished" and not is_unread:
        raise UnreadableError(
            f"it is {run.state}; only finished runs and runs that failed in their parser can be parsed again"
        )
    tool = workload(run.workload, {})
    current = {reading.order_id: reading for reading in sorted(run.readings, key=lambda reading: reading.ordinal)}
    if not current:
        raise UnreadableError("it is from before iotide stored readings")
    texts: dict[int, dict[str, str]] = defaultdict(dict)
    for artefact in map(Artefact.of, api.items(f"/runs/{run.id}/artefacts", {})):
        if artefact.order_id in current:
            texts[artefact.order_id][artefact.name] = api.get_text(f"/artefacts/{artefact.id}")
    now = [read_order_again(tool, run.options, order_id, texts[order_id]) for order_id in current]
    before = [RawReading.of(api.get(f"/readings/{reading.id}")) for reading in current.values()]
    gone, new = _flag_changes(
        [flag for one in before for flag in one.flags], [flag for one in now for flag in one.flags]
    )
    return Reread(
        run_id=run.id,
        reading=RunReading(workload_revision=tool.revision, parser_version=AGENT_VERSION, orders=tuple(now)),
        differences=tuple(_differences(before, now)),
        number_count=sum(len(one.samples) for one in before),
        flags_gone=gone,
        flags_new=new,
        is_unread=is_unread,
        former_revision=max(reading.workload_revision for reading in before),
    )


def _differences(before: Sequence[RawReading], now: Sequence[OrderReading]) -> Iterator[Difference]:
    """Several values with the same key are compared in order."""
    units = {sample.metric: sample.unit.value for reading in before for sample in reading.samples}
    old = _by_key(sample for reading in before for sample in reading.samples)
    new = _by_key(sample for reading in now for sample in reading.samples)
    for key in dict.fromkeys((*old, *new)):
        metric, labels, _ = key
        were, are = old.get(key, []), new.get(key, [])
        for place in range(max(len(were), len(are))):
            was = were[place] if place < len(were) else None
            is_now = are[place] if place < len(are) else None
            if was != is_now:
                yield Difference(metric, dict(labels), units.get(metric), was, is_now)


def _by_key(samples: Iterable[SampleAnswer | SampleMessage]) -> dict[_Key, list[float]]:
    found: dict[_Key, list[float]] = defaultdict(list)
    for sample in samples:
        # The server adds `sender`, which distinguishes the two directions between nodes.
        labels = tuple(sorted(item for item in sample.labels.items() if item[0] != "sender"))
        found[sample.metric, labels, sample.target_id].append(sample.value)
    return found


def _flag_changes(before: Iterable[Flag], now: Iterable[Flag]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    old, new = (dict.fromkeys(map(_flag_line, flags)) for flags in (before, now))
    return tuple(line for line in old if line not in new), tuple(line for line in new if line not in old)


def _flag_line(flag: Flag) -> str:
    labels = "".join(f" {name}={value}" for name, value in sorted(flag.labels.items()))
    return f"{flag.code} ({flag.effect}){labels}: {flag.measured}; limit {flag.limit}"


def send(api: Api, reread: Reread) -> None:
    if reread.reading is not None:
        api.post(f"/runs/{reread.run_id}/readings", reread.reading.model_dump(mode="json"))

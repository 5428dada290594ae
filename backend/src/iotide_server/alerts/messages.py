"""Messages about alerts; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from iotide_server.alerts.schemas import AlertOutput, AlertSeries
from iotide_server.kit.clock import written
from iotide_server.notifications.service import Message
from iotide_server.results.schemas import Labels
from iotide_wire.names import Titles, described
from iotide_wire.units import format_percent

_MOST_LINES = 20
_MOST_IN_DATA = 100
_ENVIRONMENT = "A control workload changed as well: check the node, its network and its clock first."


@dataclass(frozen=True, slots=True)
class NoisySeries:
    """Series with a high median of its points' robust spreads."""

    series_id: int
    title: str
    workload: str
    spread_ratio: float


@dataclass(frozen=True, slots=True)
class DigestChange:
    id: int
    series_id: int
    title: str
    workload: str
    labels: Labels
    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Week:
    cluster_id: int
    cluster_name: str
    since: datetime
    until: datetime
    changes: Sequence[DigestChange]
    waiting: Sequence[AlertOutput]
    stopped: Sequence[AlertOutput]
    noisiest: Sequence[NoisySeries]
    titles: Mapping[str, Titles]

    @property
    def is_empty(self) -> bool:
        return not (self.changes or self.waiting or self.stopped or self.noisiest)


def incident_message(
    incident_id: int, alerts: Sequence[AlertOutput], titles: Mapping[str, Titles], *, is_environment: bool
) -> Message:
    """`titles` are of the options, by workload."""
    first = alerts[0]
    lines = [_line(alert, titles) for alert in alerts[:_MOST_LINES]]
    if len(alerts) > _MOST_LINES:
        lines.append(f"... and {len(alerts) - _MOST_LINES} more")
    if is_environment:
        lines.insert(0, _ENVIRONMENT)
    return Message(
        kind="alert",
        cluster_id=first.cluster_id,
        subject=f"{first.cluster_name}: {'environment: ' if is_environment else ''}{_subject(alerts, titles)}",
        text="\n".join(lines),
        path=f"/incidents/{incident_id}",
        data={
            "group_id": incident_id,
            "cluster": first.cluster_name,
            "is_environment": is_environment,
            "alert_count": len(alerts),
            "alerts": [alert.model_dump(mode="json") for alert in alerts[:_MOST_IN_DATA]],
        },
    )


def digest_message(week: Week) -> Message:
    titles = week.titles
    parts = [
        _part("Confirmed changes", [f"{_series(change, titles)}: {change.words}" for change in week.changes]),
        _part("Open alerts", [_line(alert, titles) for alert in week.waiting]),
        _part("Stale series", [_line(alert, titles) for alert in week.stopped]),
        _part(
            "Noisiest series",
            [
                f"{one.title} of {one.workload}: points scatter by {format_percent(one.spread_ratio)}"
                for one in week.noisiest
            ],
        ),
    ]
    changes = _counted(len(week.changes), "change")
    subject = f"{changes}, {_counted(len(week.waiting), 'open alert')}, {len(week.stopped)} stale series"
    return Message(
        kind="digest",
        cluster_id=week.cluster_id,
        subject=f"{week.cluster_name}, week until {written(week.until)}: {subject}",
        text="\n\n".join(part for part in parts if part),
        path=f"/incidents?cluster={week.cluster_id}",
        data={
            "cluster": week.cluster_name,
            "since": week.since.isoformat(),
            "until": week.until.isoformat(),
            "changes": [asdict(change) | {"at": change.at.isoformat()} for change in week.changes[:_MOST_IN_DATA]],
            "open_alerts": [alert.model_dump(mode="json") for alert in week.waiting[:_MOST_IN_DATA]],
            "stopped": [alert.model_dump(mode="json") for alert in week.stopped[:_MOST_IN_DATA]],
            "noisiest": [asdict(one) for one in week.noisiest],
        },
    )


def _subject(alerts: Sequence[AlertOutput], titles: Mapping[str, Titles]) -> str:
    first = alerts[0]
    series = _series(first.series, titles)
    if first.kind == "stale":
        return f"{series} is stale" if len(alerts) == 1 else f"{len(alerts)} stale series"
    return f"{series} {first.words.split(' (')[0]}" if len(alerts) == 1 else f"{len(alerts)} changes"


def _line(alert: AlertOutput, titles: Mapping[str, Titles]) -> str:
    where = f"on {', '.join(alert.series.node_names)}, {', '.join(alert.series.target_names)}"
    when = "" if alert.change is None else f"; after {written(alert.change.previous_at)}"
    return f"{_series(alert.series, titles)} {where}: {alert.words}{when} (alert {alert.id})"


def _series(series: AlertSeries | DigestChange, titles: Mapping[str, Titles]) -> str:
    return f"{series.title} of {series.workload}{labels_words(series.labels, titles.get(series.workload, {}))}"


def labels_words(labels: Labels, titles: Titles) -> str:
    return f" ({described(dict(sorted(labels.items())), titles)})" if labels else ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _part(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = [f"... and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join([f"{title}:", *lines[:_MOST_LINES], *more])

"""Titles of options, order of metrics, and footnotes for doubtful values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iotide_agent.cli.api import Api
from iotide_agent.cli.problems import RefusedError
from iotide_wire.names import Titles, described, option_titles, title_of


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Titles of options and names of metrics by workload, primary metrics first."""

    titles: Mapping[str, Titles] = field(default_factory=dict)
    metrics: Mapping[str, list[str]] = field(default_factory=dict)

    def option(self, workload: str, name: str) -> str:
        return title_of(name, self.titles.get(workload, {}))

    def described(self, workload: str, values: Mapping[str, Any]) -> str:
        """Return for instance `File size 64 MiB, Flush fsync`."""
        return described(values, self.titles.get(workload, {}))

    def named(self, workload: str, metric: str, labels: Mapping[str, Any]) -> str:
        shown = self.described(workload, dict(sorted(labels.items())))
        return f"{metric} ({shown})" if shown else metric

    def place(self, workload: str, metric: str) -> tuple[int, str]:
        """Return a sort key: primary metrics, then announced order, then unknown ones."""
        known = self.metrics.get(workload, [])
        return (known.index(metric) if metric in known else len(known), metric)


def read_catalogue(api: Api) -> Catalogue:
    """If the server refuses its catalogue, titles derive from the names."""
    titles: dict[str, dict[str, str]] = {}
    metrics: dict[str, list[str]] = {}
    try:
        answers = list(api.items("/workloads", {"with_former": "true"}))
    except RefusedError:
        return Catalogue()
    for answer in reversed(answers):  # newest first: newer titles replace older ones
        name = answer["name"]
        titles[name] = {**titles.get(name, {}), **option_titles(answer["options_schema"])}
        announced = sorted(answer["metrics"], key=lambda metric: not metric.get("primary"))
        metrics[name] = [metric["name"] for metric in announced]
    return Catalogue(titles, metrics)


class Marks:
    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def of(self, cautions: Iterable[str]) -> str:
        """Return the mark for a value with these cautions, preceded by a space; empty without any."""
        doubts = ", ".join(dict.fromkeys(cautions))
        return f" {self._marks.setdefault(doubts, '*' * (len(self._marks) + 1))}" if doubts else ""

    def lines(self) -> list[str]:
        return [f"{mark} {doubts}" for doubts, mark in self._marks.items()]

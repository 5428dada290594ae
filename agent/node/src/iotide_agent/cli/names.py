"""Names of options and the order of metrics, as the catalogue has them; marks of doubtful numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iotide_agent.cli.api import Api
from iotide_agent.cli.problems import RefusedError
from iotide_wire.cautions import cautions
from iotide_wire.names import Titles, described, option_titles, title_of


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Titles of options by workload, and names of metrics by workload, the primary ones first."""

    titles: Mapping[str, Titles] = field(default_factory=dict)
    metrics: Mapping[str, list[str]] = field(default_factory=dict)

    def option(self, workload: str, name: str) -> str:
        """Return the title of one option or label."""
        return title_of(name, self.titles.get(workload, {}))

    def described(self, workload: str, values: Mapping[str, Any]) -> str:
        """Return options or labels in one line: `File size 64 MiB, Flush fsync`."""
        return described(values, self.titles.get(workload, {}))

    def named(self, workload: str, metric: str, labels: Mapping[str, Any]) -> str:
        """Return a metric with its labels: `Throughput (Operation write)`."""
        shown = self.described(workload, dict(sorted(labels.items())))
        return f"{metric} ({shown})" if shown else metric

    def place(self, workload: str, metric: str) -> tuple[int, str]:
        """Return where a metric stands in a table: primary ones first, then as announced, then unknown ones."""
        known = self.metrics.get(workload, [])
        return (known.index(metric) if metric in known else len(known), metric)


def read_catalogue(api: Api) -> Catalogue:
    """Read the names that the server knows; a server that gives none leaves the plain reading of each name."""
    titles: dict[str, dict[str, str]] = {}
    metrics: dict[str, list[str]] = {}
    try:
        answers = list(api.items("/workloads", {"with_former": "true"}))
    except RefusedError:
        return Catalogue()
    for answer in reversed(answers):  # the newest stand first, and name what older ones named otherwise
        name = answer["name"]
        titles[name] = {**titles.get(name, {}), **option_titles(answer["options_schema"])}
        announced = sorted(answer["metrics"], key=lambda metric: not metric.get("primary"))
        metrics[name] = [metric["name"] for metric in announced]
    return Catalogue(titles, metrics)


class Marks:
    """Marks next to doubtful numbers, with a footnote of each."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def of(self, codes: Iterable[str]) -> str:
        """Return the mark of a number whose runs carry these flags, with a space before it; empty where none doubts."""
        doubts = ", ".join(dict.fromkeys(cautions(codes)))
        return f" {self._marks.setdefault(doubts, '*' * (len(self._marks) + 1))}" if doubts else ""

    def lines(self) -> list[str]:
        """Return what each mark means."""
        return [f"{mark} {doubts}" for doubts, mark in self._marks.items()]

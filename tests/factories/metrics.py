"""A scrape, read by Prometheus' own parsers."""

from collections.abc import Iterable, Mapping

from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


class Scraped:
    """All samples of a scrape; a name or a set of labels that is repeated is an error."""

    def __init__(self, text: str, content_type: str = "text/plain") -> None:
        parse = parse_openmetrics if content_type.startswith("application/openmetrics") else parse_text
        self.families: list[Metric] = list(parse(text))
        names = [family.name for family in self.families]
        assert len(names) == len(set(names)), "each family once"
        samples = [(sample.name, tuple(sorted(sample.labels.items()))) for sample in self._samples()]
        assert len(samples) == len(set(samples)), "each series once"
        self.names = {sample.name for sample in self._samples()}
        """Names of all existing series."""
        totals = {family.name: "_total" if family.type == "counter" else "" for family in self.families}
        self.announced = self.names | {name + total for name, total in totals.items()}
        """Names of all series, including those without a sample."""

    def value(self, name: str, **labels: str) -> float:
        """Return the value of the one series with exactly these labels."""
        value: float
        (value,) = [sample.value for sample in self._samples() if (sample.name, sample.labels) == (name, labels)]
        return value

    def by(self, label: str, name: str, **labels: str) -> Mapping[str, float]:
        """Return the values of all series of that name that have these labels, by one more label."""
        return {
            sample.labels[label]: sample.value
            for sample in self._samples()
            if sample.name == name and labels.items() <= sample.labels.items()
        }

    def labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of the one series of that name."""
        labels: Mapping[str, str]
        (labels,) = [sample.labels for sample in self._samples() if sample.name == name]
        return labels

    def _samples(self) -> Iterable:  # type: ignore[type-arg]  # the library names its tuple in no public place
        return (sample for family in self.families for sample in family.samples)

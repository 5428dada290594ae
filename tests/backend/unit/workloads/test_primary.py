from typing import Literal

from iotide_server.workloads.primary import metric_places, of_whole_runs, primary_metrics
from iotide_wire.catalogue import MetricSpec
from iotide_wire.units import Unit


def metric(name: str, better: Literal["higher", "lower"] = "higher", *, primary: bool = False) -> dict[str, object]:
    spec = MetricSpec(name=name, title=name, unit=Unit.SECONDS, better=better, labels=(), primary=primary)
    return spec.model_dump(mode="json")


def test_primary_metrics_are_those_that_the_workload_names() -> None:
    announced = [metric("throughput"), metric("latency", "lower", primary=True), metric("iops", primary=True)]
    assert primary_metrics(announced) == {"latency", "iops"}


def test_of_older_agents_the_total_and_the_first_of_which_more_is_better_are_primary() -> None:
    announced = [metric("duration", "lower"), metric("throughput"), metric("iops"), metric("total_throughput")]
    assert primary_metrics(announced) == {"throughput", "total_throughput"}
    assert primary_metrics([metric("duration", "lower"), metric("wait", "lower")]) == {"duration"}


def test_values_of_single_writers_are_primary_only_without_a_total() -> None:
    parts = [("throughput", {"writer": 1}, "a"), ("throughput", {"writer": 2}, "b"), ("duration", {}, "c")]
    assert of_whole_runs(parts, {"throughput", "total_throughput"}) == ["a", "b"]
    assert of_whole_runs([*parts, ("total_throughput", {}, "d")], {"throughput", "total_throughput"}) == ["d"]


def test_tables_have_the_primary_metrics_first_and_then_the_announced_order() -> None:
    announced = [metric("wait", "lower"), metric("iops", primary=True), metric("size"), metric("rate", primary=True)]
    assert list(metric_places(announced)) == ["iops", "rate", "wait", "size"]

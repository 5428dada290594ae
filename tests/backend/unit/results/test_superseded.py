"""Numbers from older agents with the wrong clock or sent twice are recognized on arrival."""

import pytest

from iotide_server.results.ingest.keys import Label
from iotide_server.results.ingest.superseded import Superseded, superseded
from iotide_wire.measured import SampleMessage


def sample(metric: str, target_id: int | None = 7, **labels: Label) -> SampleMessage:
    return SampleMessage(metric=metric, value=1.0, labels={"operation": "write", **labels}, target_id=target_id)


RACE = [sample("total_throughput"), sample("first_done"), sample("last_done"), sample("fairness")]


@pytest.mark.parametrize(("revision", "because"), [(1, Superseded.NODE_CLOCK), (2, None)])
def test_what_several_writers_of_dd_did_was_timed_by_the_nodes_clock(revision: int, because: Superseded | None) -> None:
    parts = [sample("throughput", writer=1), sample("throughput", writer=2), sample("duration", writer=1)]
    assert superseded("dd", revision, 1, [*parts, *RACE]) == [None, None, None, *[because] * 4]


@pytest.mark.parametrize(
    ("workload", "revision", "metric"),
    [
        ("fio", 2, "throughput"),
        ("fio", 3, "throughput"),
        ("iozone", 1, "throughput"),
        ("create", 2, "operation_rate"),
        ("plug-in", 1, "throughput"),
    ],
)
def test_a_total_of_one_writer_is_its_rate_once_more(workload: str, revision: int, metric: str) -> None:
    total = sample(f"total_{metric}")
    for alone in (sample(metric), sample(metric, writer=1)):
        assert superseded(workload, revision, 1, [alone, total]) == [None, Superseded.ONE_WRITER]
    assert superseded(workload, revision, 1, [sample(metric, writer=1), sample(metric, writer=2), total]) == [None] * 3


def test_a_total_of_other_bytes_than_any_other_number_counts() -> None:
    by_level = [sample("throughput", fill_percent=5), sample("total_throughput")]
    assert superseded("fill", 1, 1, by_level) == [None, None]
    of_targets = [sample("throughput", 7), sample("throughput", 8), sample("total_throughput", None)]
    assert superseded("rawread", 1, 2, of_targets) == [None] * 3


@pytest.mark.parametrize(
    ("workload", "revision", "because"),
    [
        ("fio", 2, Superseded.MIXED_TARGETS),
        ("fio", 3, None),
        ("fill", 1, Superseded.NODE_CLOCK),
        ("fill", 2, None),
        ("create", 2, None),
    ],
)
def test_totals_over_targets_stored_among_those_of_each_no_longer_count(
    workload: str, revision: int, because: Superseded | None
) -> None:
    assert superseded(workload, revision, 2, [sample("total_throughput", None)]) == [because]


def test_each_reason_is_a_sentence() -> None:
    assert all(reason.words.endswith(".") for reason in Superseded)


def test_a_total_measured_by_a_plug_in_counts() -> None:
    assert superseded("command", 1, 1, [sample("time"), sample("total_time")]) == [None, None]

from typing import Any

import pytest
from factories.fake_server import FakeServer

from iotide_agent.cli.api import Api
from iotide_agent.cli.compare import lines
from iotide_agent.cli.names import Catalogue, Marks, read_catalogue


def workload(name: str, titles: dict[str, str], *metrics: tuple[str, bool]) -> dict[str, Any]:
    return {
        "name": name,
        "options_schema": {"properties": {option: {"title": title} for option, title in titles.items()}},
        "metrics": [{"name": metric, "primary": primary} for metric, primary in metrics],
    }


@pytest.fixture
def catalogue(server: FakeServer) -> Catalogue:
    newest = workload("fio", {"rw": "Pattern"}, ("latency", False), ("iops", False), ("throughput", True))
    former = workload("fio", {"rw": "Rw", "fsync": "Flush at the end"})
    items = {"items": [newest, former], "next_cursor": None}
    server.on("GET /workloads?with_former=true&limit=200", (200, items))
    with Api(server.url, "token", None) as api:
        return read_catalogue(api)


def test_options_have_the_titles_of_the_newest_schema_and_former_ones_keep_theirs(catalogue: Catalogue) -> None:
    words = catalogue.described("fio", {"rw": "randread", "fsync": True, "file_size_bytes": 4096})
    assert words == "Pattern randread, Flush at the end yes, File size 4 KiB"
    assert catalogue.described("other", {"rw": "read"}) == "Rw read"


def test_primary_metrics_come_first_then_the_announced_order(catalogue: Catalogue) -> None:
    names = ["zeal", "iops", "throughput", "latency"]
    assert sorted(names, key=lambda name: catalogue.place("fio", name)) == ["throughput", "latency", "iops", "zeal"]


def test_a_server_without_a_catalogue_leaves_plain_names(server: FakeServer) -> None:
    with Api(server.url, "token", None) as api:
        assert read_catalogue(api).option("fio", "file_size_bytes") == "File size"


def test_doubtful_numbers_share_a_mark_by_their_reason() -> None:
    marks = Marks()
    assert [marks.of(words) for words in (["not flushed"], [], ["read warm"], ["not flushed"])] == [
        " *",
        "",
        " **",
        " *",
    ]
    assert marks.lines() == ["* not flushed", "** read warm"]


def test_a_comparison_names_options_by_their_title_and_marks_doubtful_numbers(catalogue: Catalogue) -> None:
    side = {"campaign_id": 1, "ordinal": 0, "workload": "fio", "node_names": [], "target_names": [], "variant": ""}
    metric: dict[str, Any] = {
        "title": "Throughput",
        "labels": {},
        "target_name": None,
        "words": "1 run",
        "n_a": 1,
        "n_b": 1,
    }
    metric |= {"ratio": None, "median_ratio": None, "verdict": "one_run", "is_discovery": None, "p_value": None}
    metric |= {"basis": "runs", "basis_words": "", "looks": 1}
    differences = [{"name": "options.rw", "a": "read", "b": None}]
    pair = {"a": side, "b": side, "differences": differences, "is_alike": True}
    answer = {"pairs": [pair | {"metrics": [metric | {"flags": ["FSYNC"]}]}], "only_a": [], "only_b": []}
    printed = list(lines(answer, catalogue))
    assert printed[2:] == [
        "  differs in Pattern: read -> none",
        "  Throughput: 1 run; n = 1 and 1 *",
        "",
        "* not flushed",
    ]

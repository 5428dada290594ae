"""The verdict of `./dev bench load` on its measurements: a fault that it misses would make any server pass."""

import os
import re
from dataclasses import replace
from pathlib import Path

import load_browsers
import pytest
from load_agents import MOST_SAMPLES, Samples
from load_calls import NO_ANSWER, Answer, Tally, percentile_ms
from load_limits import Hostile, Measured, passed_limits
from load_pages import Query, campaign_page, cluster_page, follow_ups, overview, runs_page
from load_parts import Look, busy_seconds, ended_seconds, growth_mb, worked_seconds

FIT = Measured(
    errors=0,
    heartbeat_p95_ms=250.0,
    ingest_p95_ms=500.0,
    samples_per_second=200.0,
    growth_mb=20.0,
    agents=2000,
    online=2000,
    longest_silence_seconds=30.0,
    deaf_pages=0,
)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (replace(FIT, errors=1), "1 requests failed"),
        (replace(FIT, heartbeat_p95_ms=251.0), "p95 of heartbeats is 251 ms"),
        (replace(FIT, ingest_p95_ms=501.0), "p95 of ingest is 501 ms"),
        (replace(FIT, samples_per_second=150.0), "150 samples/s"),
        (replace(FIT, growth_mb=20.1), "memory grew by 20.1 MB"),
        (replace(FIT, online=1999), "1 of 2000 nodes are not online"),
        (replace(FIT, longest_silence_seconds=31.0), "a node was silent for 31 s"),
        (replace(FIT, deaf_pages=1), "1 pages got no update"),
        (replace(FIT, hostile=Hostile(1000, 1)), "1 requests failed under hostile traffic"),
        (
            replace(FIT, hostile=Hostile(1000, 0, {"heartbeats": (20.0, 41.0)})),
            "p95 of heartbeats is 41 ms under hostile",
        ),
    ],
)
def test_each_exceeded_limit_is_reported(found: Measured, words: str) -> None:
    assert passed_limits(FIT) == []
    assert (
        passed_limits(replace(FIT, hostile=Hostile(1000, 0, {"heartbeats": (20.0, 40.0), "pages": (0.0, 0.0)}))) == []
    )
    (sentence,) = passed_limits(found)
    assert words in sentence


def test_refused_and_unanswered_requests_are_errors_also_before_counting_begins() -> None:
    tally = Tally()
    tally.note("beat", Answer(200, b""), 0.1)
    tally.note("beat", Answer(503, b"away"), 0.1)
    assert (tally.requests, tally.errors) == (1, 1)
    tally.is_counting = True
    tally.note("beat", Answer(204, b""), 0.2)
    tally.note("beat", Answer(NO_ANSWER, b"TimeoutError"), 10.0)
    tally.fail("GET events", "a reset")
    assert (tally.requests, tally.errors) == (4, 3)
    assert percentile_ms(tally.seconds["beat"], 95) == 10_000.0


def test_requests_before_an_attack_are_not_counted_with_it() -> None:
    tally = Tally(is_counting=True)
    tally.note("beat", Answer(503, b"away"), 0.1)
    calm = tally.taken()
    tally.note("beat", Answer(200, b""), 0.2)
    assert ((calm.requests, calm.errors), (tally.requests, tally.errors)) == ((1, 1), (1, 0))
    assert tally.seconds["beat"] == [0.2]
    assert tally.refused == []


@pytest.mark.parametrize(("percent", "expected_ms"), [(50, 10_000.0), (95, 19_000.0), (100, 20_000.0)])
def test_a_percentile_is_a_time_that_was_measured(percent: float, expected_ms: float) -> None:
    assert percentile_ms([float(number) for number in range(20, 0, -1)], percent) == expected_ms


def looks(bytes_at: dict[float, int]) -> list[Look]:
    return [Look(at, {"api": size}, {"api": 0.0}) for at, size in bytes_at.items()]


def test_growth_is_from_after_the_warm_up_to_the_end_and_passes_over_a_single_peak() -> None:
    steady = {float(at): 100_000_000 if at >= 100 else at * 1_000_000 for at in range(0, 601, 5)}
    assert growth_mb(looks(steady), "api", 600.0) == 0.0
    assert growth_mb(looks(steady | {570.0: 900_000_000}), "api", 600.0) == 0.0
    leaking = {at: size + int(at) * 100_000 for at, size in steady.items()}
    assert growth_mb(looks(leaking), "api", 600.0) == pytest.approx(42.0)


def test_cpu_time_is_read_without_waiting_time() -> None:
    stat = "cpu  1000 200 300 99999 88888 10 20 70 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
    assert busy_seconds(stat) * os.sysconf("SC_CLK_TCK") == pytest.approx(1600)


def test_cpu_time_of_a_process_and_its_ended_children_is_read_for_any_name() -> None:
    stat = "7 (post) gres) S 1 7 7 0 -1 4194560 2000 90000 0 12 150 50 4000 1500 20 0 1 0 100 200 300\n"
    ticks = os.sysconf("SC_CLK_TCK")
    assert worked_seconds(stat) * ticks == pytest.approx(200)
    assert ended_seconds(stat) * ticks == pytest.approx(5500)


def test_results_have_as_many_samples_as_are_due_and_never_more_than_one_may() -> None:
    samples = Samples(200.0)
    assert samples.owed(100.0) == 40
    assert samples.owed(100.0) == 1
    assert samples.owed(101.0) == 199
    assert samples.owed(110.0) == MOST_SAMPLES
    samples.sent = 400
    assert samples.rate(101.8) == pytest.approx(200.0)


def test_updates_make_stale_what_shows_the_row_and_nothing_else() -> None:
    def stale(page: list[Query], *marks: str) -> set[str]:
        return {query.kind for query in page if query.stale_on & set(marks)}

    assert stale(campaign_page(1, 7), "campaign", "campaign/8") == set()
    assert stale(campaign_page(1, 7), "campaign", "campaign/7") == {"GET campaign"}
    assert stale(campaign_page(1, 7), "run") == {"GET active runs", "GET queue"}
    assert stale(cluster_page(1), "activity") == {"GET nodes"}
    assert stale(cluster_page(1), "node") == {"GET nodes", "GET targets", "GET workloads"}
    assert stale(overview(), "run", "activity", "node", "series") == set()
    assert stale(overview(), "standing") == {"GET board"}
    assert stale(runs_page(), "run") == set()


def test_a_page_goes_on_to_ask_by_what_it_was_answered() -> None:
    by_kind = {query.kind: query for query in [*campaign_page(1, 7), *runs_page()]}
    runs = {"items": [{"id": number} for number in range(1, 21)]}
    lives = follow_ups(by_kind["GET active runs"], runs)
    assert [query.path.split("?")[0] for query in lives] == [f"/api/v1/runs/{number}/curves" for number in range(1, 9)]
    measures = {"metrics": [{"metric": "throughput", "workload": "iozone"}], "counters": []}
    (figure,) = follow_ups(by_kind["GET measures"], measures)
    assert figure.path == "/api/v1/campaigns/7/measurements?limit=500&metric=throughput&workload=iozone"
    assert follow_ups(by_kind["GET measures"], {"metrics": [], "counters": []}) == []
    headlines = [{"headline": {"series_id": 3}}, {"headline": None}, {"headline": {"series_id": 3}}]
    (courses,) = follow_ups(by_kind["GET explorer/runs"], {"items": headlines})
    assert courses.path == "/api/v1/explorer/sparklines?series_id=3"


def test_pages_of_the_bench_gather_updates_and_rest_as_those_in_a_browser_do() -> None:
    live = (Path(load_browsers.__file__).parents[2] / "frontend/src/api/changeFeed.ts").read_text()
    constants = {name: int(value.replace("_", "")) for name, value in re.findall(r"const (\w+) = ([\d_]+);", live)}
    assert constants["GATHER_MILLISECONDS"] == 1000 * load_browsers.GATHER_SECONDS
    assert constants["RESTS"] == load_browsers.RESTS
    assert constants["LEAST_REST_MILLISECONDS"] == 1000 * load_browsers.LEAST_REST_SECONDS
    assert constants["LONGEST_REST_MILLISECONDS"] == 1000 * load_browsers.LONGEST_REST_SECONDS

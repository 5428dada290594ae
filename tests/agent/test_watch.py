"""Following a campaign: the final output covers all its runs."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from iotide_agent.cli.api import Api
from iotide_agent.cli.watch import PERIOD_SECONDS, RESULTS_SECONDS, ended_cells


class Computing:
    """Server that adds the results of one more run at each request, up to `computes`."""

    def __init__(self, computes: int) -> None:
        self.computes = computes
        self.asked = 0

    def items(self, path: str, parameters: Mapping[str, str | int]) -> Iterator[dict[str, Any]]:
        del parameters
        assert path == "/campaigns/7/cells"
        self.asked += 1
        place = {"ordinal": 1, "variant": "", "node_names": [], "target_names": [], "workload": "dd", "options": {}}
        yield place | {"counted_runs": [1, 2, 3], "results": [self.result(min(self.asked, self.computes))]}
        yield place | {"counted_runs": [], "results": []}  # all of its runs failed

    @staticmethod
    def result(runs: int) -> dict[str, Any]:
        return {"metric": "throughput", "unit": "bytes_per_second", "labels": {}, "n": runs} | dict.fromkeys(
            ("median", "low", "high"), 1.0
        )


def cells_of(server: Computing) -> tuple[list[int], float]:
    """Return the run counts of each cell's result in the final output, and the seconds it took."""
    slept: list[float] = []
    cells = ended_cells(cast("Api", server), 7, slept.append)
    return [result.n for cell in cells for result in cell.results], sum(slept)


def test_results_are_waited_for_until_they_are_of_all_runs() -> None:
    assert cells_of(Computing(computes=3)) == ([3], 2 * PERIOD_SECONDS)


def test_results_that_stay_behind_are_shown_as_they_are() -> None:
    assert cells_of(Computing(computes=2)) == ([2], RESULTS_SECONDS)

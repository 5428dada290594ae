"""Load times of dashboard pages in a real Chromium with an empty cache, over a million stored numbers.

5,000 runs of 2,000 nights are generated, with 200 series and some IOzone matrices. Each page is loaded --loads times
after one warm-up. `page_loads.cjs` records in the page when it first painted, and when its main content was there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from local_stack import LocalStack
from page_history import fill
from rich.console import Console
from rich.table import Table
from rig import running_stack

from iotide_server.kit.db import Database, open_engine

HERE: Final = Path(__file__).parent
PACKAGES: Final = HERE.parents[1] / "frontend/node_modules"
BARS: Final = {
    "fcp_ms": 600.0,
    "overview_ms": 1200.0,
    "explorer_ms": 1200.0,
    "trend_ms": 1200.0,
    "comparison_ms": 1200.0,
    "surface_ms": 3000.0,
    "first_paint_kb": 200.0,
}
LOADS: Final = 5
REFERENCE: Final = "reference"
"""A page with one static plotly chart, and nothing of iotide: it shows how fast this machine draws."""
POINTS: Final = 2000
POINTS_A_SERIES: Final = 1000
"""As many as the page requests."""
_KILOBYTE: Final = 1000

Load = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A page and the condition for its main content.

    Attributes:
        wanted: minimum number of elements by selector.
    """

    name: str
    path: str
    wanted: Mapping[str, int]


def main() -> int:
    """Run the bench; return 1 if a median is above its limit."""
    parser = argparse.ArgumentParser(prog="./dev bench page", description=__doc__)
    parser.add_argument("--loads", type=int, default=LOADS, help="default: %(default)s")
    options = parser.parse_args()
    with running_stack() as stack:
        engine = open_engine(stack.settings["IOTIDE_DATABASE_URL"])
        fill(Database(engine))
        engine.dispose()
        return report(load_pages(stack, places(stack), options.loads))


def places(stack: LocalStack) -> list[Place]:
    """Return the pages to open, each for the object with the most content."""
    clusters = {cluster["name"]: cluster["id"] for cluster in stack.get("/clusters")["items"]}
    trend = stack.get("/series", cluster_id=clusters["page-hpc"], workload="dd")["items"]
    drawn = [len(stack.get(f"/series/{one['id']}/points", limit=10_000, points=POINTS_A_SERIES)["at"]) for one in trend]
    series = json.dumps([one["id"] for one in trend], separators=(",", ":"))
    if sum(drawn) < POINTS:
        raise SystemExit(f"the trend has no more than {sum(drawn)} points")
    monthly = _campaign(stack, clusters["page-hpc"], "monthly")
    after, before = _matrices(stack)
    return [
        Place(
            "overview",
            "/",
            {".iotide-cluster": len(clusters), ".iotide-curve polyline": 1, "figure .scatterlayer .trace": 1},
        ),
        Place("explorer", "/runs", {"table[aria-label=Runs] tbody tr": 20, "table[aria-label=Runs] td svg": 10}),
        Place(
            "trend",
            f"/clusters/{clusters['page-hpc']}/trend?workload=dd&series={series}",
            {"figure .scatterlayer path.point": sum(drawn)},
        ),
        Place(
            "comparison",
            # With a metric, all values are unfolded: the forest plot, and four runs of each of three file systems with
            # the distance of two from the first.
            f"/compare?campaigns=%5B{monthly}%5D&metric=throughput",
            {
                "table[aria-label='Primary metrics'] .iotide-interval": 2,
                "figure .scatterlayer path.point": 14,
                "table[aria-label=Verdicts] tbody tr": 1,
            },
        ),
        Place(
            "surface",
            f"/surfaces?a={before}&b={after}",
            {"figure .heatmaplayer .hm": 3, "figure .gl-container canvas": 1, "figure .scatterlayer .trace": 2},
        ),
        Place(REFERENCE, "/reference", {"figure .scatterlayer path.point": POINTS}),
    ]


def _campaign(stack: LocalStack, cluster_id: int, name: str) -> int:
    """Return the newest campaign of that name."""
    newest = stack.get("/campaigns", cluster_id=cluster_id, limit=200)["items"]
    return int(next(campaign["id"] for campaign in newest if campaign["name"] == name))


def _matrices(stack: LocalStack) -> list[str]:
    """Return two of the largest IOzone runs, the newer one first."""
    listed = stack.get("/explorer/runs", workload="iozone", text="matrix", limit=2)["items"]
    return [f"run-{run['id']}" for run in listed]


def load_pages(stack: LocalStack, pages: Sequence[Place], loads: int) -> dict[str, list[Load]]:
    """Return the measurements of each page, load by load."""
    wanted = {
        "url": stack.url,
        "session": stack.browser_session(),
        "chromium": shutil.which("chromium"),
        "loads": loads,
        "plotly": str(PACKAGES / "plotly.js/dist/plotly-basic.min.js"),
        "points": POINTS,
        "pages": [asdict(page) for page in pages],
    }
    done = subprocess.run(
        ["node", str(HERE / "page_loads.cjs")],
        input=json.dumps(wanted),
        env={**os.environ, "NODE_PATH": str(PACKAGES)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seen: dict[str, list[Load]] = defaultdict(list)
    for line in done.stdout.splitlines():
        load = json.loads(line)
        seen[load["name"]].append(load)
    return seen


def report(loads: Mapping[str, Sequence[Load]]) -> int:
    """Print a table and the last line; return 1 if a median is above its limit."""
    heads = ("page", "first paint ms", "drawn ms", "from", "to", "x reference", "requests", "kB before first paint")
    table = Table(*heads)
    reference = median(_values(loads[REFERENCE], "drawn"))
    for name, own in loads.items():
        drawn = _values(own, "drawn")
        ratio = f"{median(drawn) / reference:.2f}"
        counts = (f"{median(_values(own, 'requests')):.0f}", f"{median(_values(own, 'bytes')) / _KILOBYTE:.0f}")
        shown = (median(_values(own, "fcp")), median(drawn), min(drawn), max(drawn))
        table.add_row(name, *(f"{number:.0f}" for number in shown), ratio, *counts)
    Console().print(table)
    first = loads["overview"]
    measured = {
        "fcp_ms": median(_values(first, "fcp")),
        **{f"{name}_ms": median(_values(own, "drawn")) for name, own in loads.items() if name != REFERENCE},
        "first_paint_kb": median(_values(first, "bytes")) / _KILOBYTE,
        f"{REFERENCE}_ms": reference,
    }
    print("page: " + " ".join(f"{name}={number:.0f}" for name, number in measured.items()))
    return int(any(measured[name] > bar for name, bar in BARS.items()))


def _values(loads: Sequence[Load], name: str) -> list[float]:
    return [load[name] for load in loads]


if __name__ == "__main__":
    sys.exit(main())

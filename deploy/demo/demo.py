"""`./dev demo`: runs a complete iotide on this machine, measures two directories and shows the results.

Starts the server and one agent, submits `demo.yaml` as a user would, and runs until Ctrl-C.
"""

import argparse
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from bring_up import StackError, free_port, wait_for
from local_stack import BIN, LocalStack
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from iotide_wire.units import Unit, format_value

ROOT = Path(__file__).parents[2]
PLAN = Path(__file__).with_name("demo.yaml")
LOCK = "demo.lock"
USUAL_PORT = 8470
HISTORY_DAYS = 180

console = Console()


class AlreadyRunningError(Exception):
    """Another demo uses the directory."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of the demo.

    Attributes:
        port: port of the dashboard.
        history_days: days of sample data; None: no sample data.
    """

    port: int
    history_days: int | None
    stays: bool


def main() -> int:
    """Run the demo. The exit status is 0 only if every run finished."""
    parser = argparse.ArgumentParser(description="Run a complete iotide on this machine, with a sample campaign.")
    parser.add_argument("--exit", action="store_true", help="stop when the campaign has ended, instead of at Ctrl-C")
    parser.add_argument("--state", type=Path, default=ROOT / ".demo", help="state directory (%(default)s)")
    parser.add_argument(
        "--history",
        nargs="?",
        type=int,
        const=HISTORY_DAYS,
        metavar="DAYS",
        help=f"load sample data: clusters with this many days of campaigns ({HISTORY_DAYS})",
    )
    parser.add_argument("--port", type=int, help=f"port of the dashboard ({USUAL_PORT}, or another if it is in use)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    directory: Path = options.state.resolve()
    try:
        with fresh(directory), memory_directory() as memory:
            wanted = Wanted(options.port or choose_port(), options.history, stays=not options.exit)
            return run_demo(directory, memory, wanted)
    except AlreadyRunningError:
        return show_running(directory, stays=not options.exit)
    except StackError as error:
        console.print(f"demo: {error}", style="red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


@contextmanager
def fresh(directory: Path) -> Iterator[None]:
    """Yield the directory, empty and locked.

    Raises:
        AlreadyRunningError: another demo uses it.
        StackError: it contains files of other programs.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()) and not (directory / LOCK).exists():
        raise StackError(f"--state {directory} contains other files; choose an empty or new directory")
    with (directory / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunningError from error
        for entry in directory.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            elif entry.name != LOCK:
                entry.unlink()
        yield


@contextmanager
def memory_directory() -> Iterator[Path]:
    """Yield a directory in memory, removed at the end."""
    directory = Path("/dev/shm") / f"iotide-demo-{secrets.token_hex(4)}"  # noqa: S108 - a target in memory
    directory.mkdir(mode=0o700)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def choose_port() -> int:
    """Return the default port, or a free one if it is in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return free_port()
    return USUAL_PORT


def show_running(directory: Path, *, stays: bool) -> int:
    """Print where the running demo is."""
    stack = LocalStack(directory)
    console.print(f"A demo is already running in {directory}. Sign in once with {stack.admin_link()}", soft_wrap=True)
    if not stays:
        console.print("demo: stop it with Ctrl-C first, or choose another directory with --state", style="red")
    return 0 if stays else 2


def run_demo(directory: Path, memory: Path, wanted: Wanted) -> int:
    console.print("Starting PostgreSQL, Redis, API, scheduler, worker and one agent ...")
    with LocalStack(directory, port=wanted.port) as stack:
        cluster_id = stack.add_cluster("demo")
        agent = stack.add_agent(cluster_id, "demo-node", [directory / "disk", memory])
        stack.add_target(cluster_id, "disk", directory / "disk", [agent.node_id])
        stack.add_target(cluster_id, "shm", memory, [agent.node_id])
        campaign = run_campaign(stack, write_plan(directory))
        show_results(stack, campaign)
        show_series(stack, cluster_id)
        load_published(directory)
        if wanted.history_days is not None:
            load_history(directory, wanted.history_days)
        console.print(f"Dashboard: {stack.url}   sign in once with {stack.admin_link()}", soft_wrap=True)
        finished, failed = campaign["counts"]["finished"], campaign["counts"]["failed"]
        print(f"demo: {finished} runs finished, {failed} failed", flush=True)  # noqa: T201 - read by other programs
        if wanted.stays:
            try:
                stack.wait_server_ended()
            finally:
                console.print("Stopping agent and server ...")
        return 1 if failed or not finished else 0


def load_published(directory: Path) -> None:
    """Load published results into the server, for comparison with the campaign.

    Raises:
        StackError: the command failed and has printed why.
    """
    command = [str(BIN / "iotide-server"), "load-published", "--state", str(directory / "server")]
    if subprocess.run(command, check=False).returncode:
        raise StackError("the published results could not be loaded")


def load_history(directory: Path, days: int) -> None:
    """Load sample data into the server.

    Raises:
        StackError: the command failed and has printed why.
    """
    console.print(
        f"Loading {days} days of sample data: [bold]iotide-server load-demo-history --seed 1 --days {days}[/bold]"
    )
    command = [BIN / "iotide-server", "load-demo-history", "--seed", "1", "--days", str(days)]
    if subprocess.run([*map(str, command), "--state", str(directory / "server")], check=False).returncode:
        raise StackError("the sample data could not be loaded")


def write_plan(directory: Path) -> Path:
    """Write the plan, without what this machine cannot run."""
    plan = yaml.safe_load(PLAN.read_text())
    if shutil.which("fio") is None:
        console.print("fio is not installed; the demo skips it. To include it: `apt-get install fio`.")
        plan["workloads"] = [choice for choice in plan["workloads"] if choice["workload"] != "fio"]
    file = directory / "demo.yaml"
    file.write_text(yaml.safe_dump(plan, sort_keys=False))
    return file


def run_campaign(stack: LocalStack, plan: Path) -> dict[str, Any]:
    """Submit the plan as a user does, watch it, and return the ended campaign.

    Raises:
        StackError: the plan was rejected; the command has printed why.
    """
    console.print(f"Submitting {PLAN.name}: [bold]iotide campaign submit {PLAN.name} --watch[/bold]")
    command = [str(BIN / "iotide"), "campaign", "submit", str(plan), "--watch", "--json"]
    environment = {**os.environ, "IOTIDE_URL": stack.url, "IOTIDE_TOKEN": stack.token}
    # With --json, progress goes to stderr and the result to stdout.
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in {0, 1}:
        raise StackError(f"iotide campaign submit exited with status {done.returncode}")
    campaign: dict[str, Any] = json.loads(done.stdout)
    return campaign


def show_results(stack: LocalStack, campaign: dict[str, Any]) -> None:
    """Print the rates of each cell. Durations and latencies are on the dashboard."""
    table = Table(title="Throughput (durations and latencies are on the dashboard)", box=SIMPLE_HEAD)
    for heading in ("target", "workload", "operation"):
        table.add_column(heading, no_wrap=True)
    for heading in ("median", "lowest", "highest", "n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in stack.get(f"/campaigns/{campaign['id']}/cells", limit=500)["items"]:
        rates = [result for result in cell["results"] if result["better"] == "higher"]
        for result in sorted(rates, key=lambda rate: (rate["metric"], rate["labels"]["operation"])):
            table.add_row(*result_row(cell, result))
    console.print(table)


def result_row(cell: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """Return one row of the table of results."""
    size_bytes = cell["options"].get("file_size_bytes")
    what = cell["workload"] + (f" {format_value(size_bytes, Unit.BYTES)}" if size_bytes else "")
    values = [format_value(result[name], Unit(result["unit"])) for name in ("median", "low", "high")]
    return [", ".join(cell["target_names"]), what, result["labels"]["operation"], *values, str(result["n"])]


def show_series(stack: LocalStack, cluster_id: int) -> None:
    """Wait until every series has a point, shortly after the last run.

    Raises:
        StackError: a series did not get its point.
    """

    def all_drawn() -> int | None:
        series = stack.get("/series", cluster_id=cluster_id, limit=500)["items"]
        return len(series) if series and all(one["point_count"] for one in series) else None

    count = wait_for("a point on every trend", all_drawn, seconds=60)
    console.print(f"{count} trends have a data point.")


if __name__ == "__main__":
    sys.exit(main())

"""`./dev demo`: a whole iotide on this machine that measures two directories and shows what came out.

Brings up the server and one agent, submits `demo.yaml` as any user would, and stays until Ctrl-C.
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
    """A demo holds the directory."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show.

    Attributes:
        port: of the dashboard.
        history_days: of the sample data; None: none.
    """

    port: int
    history_days: int | None
    stays: bool


def main() -> int:
    """Run the demo; the exit status is 0 only where every run finished."""
    parser = argparse.ArgumentParser(description="A whole iotide on this machine, with a campaign to look at.")
    parser.add_argument("--exit", action="store_true", help="end when the campaign has ended, instead of at Ctrl-C")
    parser.add_argument("--state", type=Path, default=ROOT / ".demo", help="where it keeps everything (%(default)s)")
    parser.add_argument(
        "--history",
        nargs="?",
        type=int,
        const=HISTORY_DAYS,
        metavar="DAYS",
        help=f"sample data: clusters with so many days of campaigns ({HISTORY_DAYS})",
    )
    parser.add_argument("--port", type=int, help=f"of the dashboard ({USUAL_PORT}, or another where that is taken)")
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
    """The directory, empty and held until the end.

    Raises:
        AlreadyRunningError: another demo holds it.
        StackError: it holds what no demo has put there.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()) and not (directory / LOCK).exists():
        raise StackError(f"--state {directory} holds other files; name an empty or a new directory")
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
    """A directory in memory that is gone in the end."""
    directory = Path("/dev/shm") / f"iotide-demo-{secrets.token_hex(4)}"  # noqa: S108 - memory is what the target is
    directory.mkdir(mode=0o700)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def choose_port() -> int:
    """The usual port, or a free one where somebody listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return free_port()
    return USUAL_PORT


def show_running(directory: Path, *, stays: bool) -> int:
    """Say where the demo is that runs already."""
    stack = LocalStack(directory)
    console.print(f"A demo already runs in {directory}. Sign in once with {stack.admin_link()}", soft_wrap=True)
    if not stays:
        console.print("demo: end it there with Ctrl-C first, or name another directory with --state", style="red")
    return 0 if stays else 2


def run_demo(directory: Path, memory: Path, wanted: Wanted) -> int:
    """Everything from the start of the server to the last line."""
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
        print(f"demo: {finished} runs finished, {failed} failed", flush=True)  # noqa: T201 - the line others read
        if wanted.stays:
            try:
                stack.wait_server_ended()
            finally:
                console.print("Ending agent and server ...")
        return 1 if failed or not finished else 0


def load_published(directory: Path) -> None:
    """Have the server load what others published, to lay the campaign's numbers beside.

    Raises:
        StackError: it did not; it has said why.
    """
    command = [str(BIN / "iotide-server"), "load-published", "--state", str(directory / "server")]
    if subprocess.run(command, check=False).returncode:
        raise StackError("the published results could not be loaded")


def load_history(directory: Path, days: int) -> None:
    """Have the server make clusters with a history up.

    Raises:
        StackError: it did not; it has said why.
    """
    console.print(
        f"Making up {days} days of history: [bold]iotide-server load-demo-history --seed 1 --days {days}[/bold]"
    )
    command = [BIN / "iotide-server", "load-demo-history", "--seed", "1", "--days", str(days)]
    if subprocess.run([*map(str, command), "--state", str(directory / "server")], check=False).returncode:
        raise StackError("the sample data could not be loaded")


def write_plan(directory: Path) -> Path:
    """The plan as this machine can do it."""
    plan = yaml.safe_load(PLAN.read_text())
    if shutil.which("fio") is None:
        console.print("fio is not installed, so the demo leaves that part out; `apt-get install fio` brings it.")
        plan["workloads"] = [choice for choice in plan["workloads"] if choice["workload"] != "fio"]
    file = directory / "demo.yaml"
    file.write_text(yaml.safe_dump(plan, sort_keys=False))
    return file


def run_campaign(stack: LocalStack, plan: Path) -> dict[str, Any]:
    """Submit the plan as a user does and watch it; the campaign when it has ended.

    Raises:
        StackError: it was refused; the command has said why.
    """
    console.print(f"Submitting {PLAN.name}: [bold]iotide campaign submit {PLAN.name} --watch[/bold]")
    command = [str(BIN / "iotide"), "campaign", "submit", str(plan), "--watch", "--json"]
    environment = {**os.environ, "IOTIDE_URL": stack.url, "IOTIDE_TOKEN": stack.token}
    # With --json the progress is shown on stderr, and stdout is for us.
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in {0, 1}:
        raise StackError(f"iotide campaign submit ended with status {done.returncode}")
    campaign: dict[str, Any] = json.loads(done.stdout)
    return campaign


def show_results(stack: LocalStack, campaign: dict[str, Any]) -> None:
    """Print the rates of each cell; durations and latencies are for the dashboard."""
    table = Table(title="Rates (durations and latencies are on the dashboard)", box=SIMPLE_HEAD)
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
    """One result in words and numbers."""
    size_bytes = cell["options"].get("file_size_bytes")
    what = cell["workload"] + (f" {format_value(size_bytes, Unit.BYTES)}" if size_bytes else "")
    values = [format_value(result[name], Unit(result["unit"])) for name in ("median", "low", "high")]
    return [", ".join(cell["target_names"]), what, result["labels"]["operation"], *values, str(result["n"])]


def show_series(stack: LocalStack, cluster_id: int) -> None:
    """Wait until every series has its point, which follows a moment after the last run.

    Raises:
        StackError: one did not get it.
    """

    def all_drawn() -> int | None:
        series = stack.get("/series", cluster_id=cluster_id, limit=500)["items"]
        return len(series) if series and all(one["point_count"] for one in series) else None

    count = wait_for("a point on every trend", all_drawn, seconds=60)
    console.print(f"{count} trends have their point.")


if __name__ == "__main__":
    sys.exit(main())

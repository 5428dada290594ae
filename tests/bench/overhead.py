"""What supervision costs a load: dd in one-second windows, watched by the real agent and runner, or with both frozen.

One real run of dd (1 GiB, O_DIRECT, on an ext4 of its own) is kept going by `repeating_dd`. Stopping agent, its Celery
worker and the runner by SIGSTOP leaves the raw load; letting them go on brings the beat, the sampler, everything. Each
block has three windows in random order, one watched and two raw, so that drift of the disk cancels and the two raw
ones are their own control.
"""

import argparse
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import median, stdev
from typing import Any, Final

from local_stack import Agent, LocalStack, StackError
from repeating_dd import RepeatingDd
from rich.console import Console
from rich.table import Table
from rig import running_stack

WINDOW_SECONDS: Final = 1.0
SETTLE_SECONDS: Final = 0.5
"""After a freeze the watchers first do at once what they were kept from; that is no supervision of this window."""
FEWEST_WINDOWS: Final = 60
MOST_WINDOWS: Final = 1800
HALF_WIDTH: Final = 0.015
RESAMPLES: Final = 4000
IMAGE_BYTES: Final = 3 * 1024**3
TELL_WINDOWS: Final = 60
OPTIONS: Final = {"file_size_bytes": 1024**3, "flush": "direct", "operations": ["write"]}

console = Console()


@dataclass(frozen=True)
class Block:
    """Rates of three adjacent windows, in bytes per second."""

    watched: float
    raw: float
    raw_again: float


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % bootstrap interval."""

    estimate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.estimate:.4f}  [{self.low:.4f}, {self.high:.4f}]"


class Watchers:
    """Every process of iotide that watches the load."""

    def __init__(self, agent: Agent, load_pid: int) -> None:
        parents = _parents()
        family = {pid for pid in parents if agent.process.pid in _line(pid, parents)}
        load = {pid for pid in parents if load_pid in _line(pid, parents)}
        self._pids = sorted({*family, parents[load_pid]} - load)  # the runner, parent of the load, outlives the agent

    def freeze(self) -> None:
        """Leave the load alone."""
        self._signal(signal.SIGSTOP)

    def release(self) -> None:
        """Watch it again."""
        self._signal(signal.SIGCONT)

    def cpu_seconds(self) -> float:
        """Processor time of all their threads."""
        nanoseconds = 0
        for pid in self._pids:
            for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                nanoseconds += int(file.read_text().split()[0])
        return nanoseconds / 1e9

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._pids:
            os.kill(pid, number)


def _parents() -> dict[int, int]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    return found


def _line(pid: int, parents: dict[int, int]) -> Iterator[int]:
    """The process and its ancestors."""
    while pid:
        yield pid
        pid = parents.get(pid, 0)


class Bench:
    """Takes blocks of windows from one running load."""

    def __init__(self, load: RepeatingDd, watchers: Watchers) -> None:
        self._load = load
        self._watchers = watchers
        self.blocks: list[Block] = []
        self.watched_seconds = 0.0
        self.watching_cpu_seconds = 0.0

    @property
    def windows(self) -> int:
        """How many were taken."""
        return 3 * len(self.blocks)

    def take_block(self) -> None:
        """Three windows in random order."""
        rates: dict[str, float] = {}
        for kind in random.sample(["watched", "raw", "raw_again"], 3):
            rates[kind] = self._watched_window() if kind == "watched" else self._raw_window()
        self.blocks.append(Block(**rates))

    def _watched_window(self) -> float:
        self._watchers.release()
        time.sleep(SETTLE_SECONDS)
        cpu_before, began = self._watchers.cpu_seconds(), time.monotonic()
        rate = self._window()
        self.watching_cpu_seconds += self._watchers.cpu_seconds() - cpu_before
        self.watched_seconds += time.monotonic() - began
        return rate

    def _raw_window(self) -> float:
        self._watchers.freeze()
        time.sleep(SETTLE_SECONDS)
        return self._window()

    def _window(self) -> float:
        began, before_bytes = time.monotonic(), self._load.written_bytes()
        time.sleep(WINDOW_SECONDS)
        ended, after_bytes = time.monotonic(), self._load.written_bytes()
        return (after_bytes - before_bytes) / (ended - began)


def ratio_of_means(blocks: Sequence[Block], of: Callable[[Block], float], to: Callable[[Block], float]) -> Interval:
    """Ratio of the means of two quantities of the blocks; whole blocks are drawn, so that drift cancels there too."""

    def ratio(drawn: Sequence[Block]) -> float:
        return sum(map(of, drawn)) / sum(map(to, drawn))

    ratios = sorted(ratio(random.choices(blocks, k=len(blocks))) for _ in range(RESAMPLES))  # noqa: S311 - no secret
    return Interval(ratio(blocks), ratios[int(0.025 * RESAMPLES)], ratios[int(0.975 * RESAMPLES)])


def typical_ratio(blocks: Sequence[Block], of: Callable[[Block], float], to: Callable[[Block], float]) -> Interval:
    """Ratio in the typical block, by Hodges and Lehmann: the median of all averages of two logarithms.

    The interval is that of the Wilcoxon signed-rank test, by its normal approximation (Hollander, Wolfe, Chicken 2014,
    section 3.2). A disk that stalls now and then spoils few blocks, and so hardly touches it.
    """
    logs = [math.log(of(block) / to(block)) for block in blocks]
    averages = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    n = len(logs)
    cut = max(0, round(n * (n + 1) / 4 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    low, middle, high = averages[cut], median(averages), averages[-1 - cut]
    return Interval(math.exp(middle), math.exp(low), math.exp(high))


def watched(block: Block) -> float:
    """The rate under supervision."""
    return block.watched


def raw(block: Block) -> float:
    """The rate without."""
    return (block.raw + block.raw_again) / 2


@contextmanager
def ext4(directory: Path) -> Iterator[Path]:
    """An ext4 of its own on a loop device, mounted."""
    image, mount_point = directory / "ext4.image", directory / "mount"
    mount_point.mkdir()
    # Written out, so that the windows do not measure how the file below the loop device grows.
    _run("dd", "if=/dev/zero", f"of={image}", "bs=16M", f"count={IMAGE_BYTES}", "iflag=count_bytes", "conv=fsync")
    _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))
    _run("mount", "-o", "loop", str(image), str(mount_point))
    try:
        yield mount_point
    finally:
        _run("umount", str(mount_point))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Subject:
    """The real campaign whose load is watched: one agent, one target on the ext4, dd that can be made to repeat."""

    def __init__(self, stack: LocalStack, directory: Path, mount_point: Path) -> None:
        self._stack = stack
        self.dd = RepeatingDd(directory / "dd")
        cluster_id = stack.add_cluster("overhead")
        target = mount_point / "target"
        self.agent = stack.add_agent(cluster_id, "node-1", [target], self.dd.environment)
        stack.add_target(cluster_id, "ext4", target, [self.agent.node_id])

    def shown_arguments(self) -> tuple[str, ...]:
        """What the run page shows after an ordinary run."""
        campaign_id = self._submit("shown")
        if self._stack.wait_campaign(campaign_id)["state"] != "finished":
            raise StackError("the ordinary run did not finish")
        run = self._stack.get(f"/runs/{self._run_id(campaign_id)}")
        return tuple(run["attempts"][-1]["orders"][0]["steps"][0]["argv"])

    @contextmanager
    def repeated(self) -> Iterator[Watchers]:
        """The same run again, its load kept going until the end of the block."""
        self.dd.repeat()
        campaign_id = self._submit("repeated")
        watchers = Watchers(self.agent, self.dd.pid)
        try:
            yield watchers
        finally:
            watchers.release()
            self._stack.post(f"/campaigns/{campaign_id}/cancel", {})
            self._stack.wait_campaign(campaign_id)

    def _submit(self, name: str) -> int:
        plan = {"name": name, "cluster": "overhead", "nodes": ["node-1"], "targets": ["ext4"], "repeats": 1}
        campaign: dict[str, Any] = self._stack.post(
            "/campaigns", {**plan, "workloads": [{"workload": "dd", "options": OPTIONS}]}
        )
        return int(campaign["id"])

    def _run_id(self, campaign_id: int) -> int:
        return int(self._stack.get("/runs", campaign_id=campaign_id)["items"][0]["id"])


def without_place(arguments: Sequence[str]) -> list[str]:
    """The arguments without the output file, whose directory is the run's own."""
    return [argument for argument in arguments if not argument.startswith("of=")]


def measure(subject: Subject, arguments: tuple[str, ...]) -> Bench:
    """Take windows until the interval is narrow enough or there are too many."""
    with subject.repeated() as watchers, console.status("") as status:
        if without_place(subject.dd.arguments) != without_place(arguments):
            raise StackError(f"the repeated dd got {subject.dd.arguments}, the run page shows {arguments}")
        bench = Bench(subject.dd, watchers)
        bench.take_block()  # the first windows still see the journal and the allocator settle
        bench.blocks.clear()
        while bench.windows < MOST_WINDOWS:
            bench.take_block()
            if bench.windows >= FEWEST_WINDOWS:
                so_far = typical_ratio(bench.blocks, watched, raw)
                if so_far.half_width <= HALF_WIDTH:
                    break
                if bench.windows % TELL_WINDOWS == 0:
                    print(f"unresolved after {bench.windows} windows: {so_far}; taking more", file=sys.stderr)
            status.update(f"{bench.windows} windows")
        return bench


def report(bench: Bench, arguments: tuple[str, ...], below: str) -> int:
    """Print table and line; the exit status."""
    ratio = typical_ratio(bench.blocks, watched, raw)
    mean_ratio = ratio_of_means(bench.blocks, watched, raw)
    control = typical_ratio(bench.blocks, lambda block: block.raw, lambda block: block.raw_again)
    cpu_percent = 100 * bench.watching_cpu_seconds / bench.watched_seconds
    raw_rate = sum(map(raw, bench.blocks)) / len(bench.blocks)
    table = Table(title=f"Supervision of {' '.join(arguments)}", show_header=False)
    table.add_row("ext4 on a loop device over", below)
    table.add_row("windows of 1 s", f"{bench.windows}: {len(bench.blocks)} watched, {2 * len(bench.blocks)} raw")
    spread = stdev(block.raw for block in bench.blocks) / raw_rate
    table.add_row("raw rate", f"{raw_rate / 1e6:.0f} MB/s; from window to window it varies by {spread:.1%}")
    table.add_row("watched / raw, 95 % interval", str(ratio))
    table.add_row("the same of the means, stalls of the disk included", str(mean_ratio))
    table.add_row("raw / raw (control)", str(control))
    table.add_row("processor of agent, Celery worker and runner", f"{cpu_percent:.2f} % of one core")
    console.print(table)
    is_resolved = ratio.half_width <= HALF_WIDTH
    if not is_resolved:
        print(f"unresolved: half-width {ratio.half_width:.4f} after {bench.windows} windows, wanted {HALF_WIDTH}")
    print(
        f"overhead: ratio_dd={ratio.estimate:.4f} ci_low={ratio.low:.4f} ci_high={ratio.high:.4f} "
        f"control={control.estimate:.4f} agent_cpu_percent={cpu_percent:.2f} windows={bench.windows}"
    )
    return 0 if is_resolved else 1


def main() -> int:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--image-in", type=Path, help="directory of the ext4's image (%(default)s)", default=usual_place()
    )
    place: Path = parser.parse_args().image_in
    if os.geteuid() != 0:
        print("overhead: it mounts an ext4 of its own, so run it as root: sudo ./dev bench overhead", file=sys.stderr)
        return 2
    directory = Path(tempfile.mkdtemp(prefix="iotide-overhead-", dir=place))
    try:
        with ext4(directory) as mount_point, running_stack() as stack:
            subject = Subject(stack, directory, mount_point)
            arguments = subject.shown_arguments()
            return report(measure(subject, arguments), arguments, file_system_of(place))
    finally:
        shutil.rmtree(directory)


def usual_place() -> Path:
    """In memory where there is room: the faster the device, the more supervision weighs, and the less it scatters."""
    memory = Path("/dev/shm")  # noqa: S108 - the bench makes its own directory there
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 2 * IMAGE_BYTES
    return memory if has_room else Path(tempfile.gettempdir())


def file_system_of(place: Path) -> str:
    """Type and source of the file system that holds the image."""
    shown = subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True, text=True, check=True)
    return f"{shown.stdout.strip()} ({place})"


if __name__ == "__main__":
    sys.exit(main())

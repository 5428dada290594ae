"""Overhead of supervision: dd, fio and iozone, with and without the real agent and runner.

Windows: `repeating_tool` keeps one real run (O_DIRECT) going. SIGSTOP of the agent, its Celery worker and the runner
leaves the raw load; SIGCONT brings back heartbeats, the sampler and all else. Each block has three windows in random
order, one watched and two raw, so that drift of the disk cancels and the two raw ones are their own control. On a
virtual machine, CPU time stolen by the hypervisor differs from second to second and explains most of the spread. The
windows are therefore compared at equal theft, with a slope from the raw windows only. They resolve 1 %.

Pairs: the same run as a campaign's and as the bare command, each to its end, in the order A B B A. They include what
windows cannot, the start and the end, and scatter much more.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, cycle, islice
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from bring_up import StackError
from factories.outcomes import make_place, run_groups
from local_stack import LocalStack
from repeating_tool import RepeatingTool
from rich.console import Console
from rich.table import Table
from rig import running_stack
from windows import Interval, Watchers, Windows, typical_ratio

from iotide_agent.workloads.registry import workload
from iotide_wire.measured import FlagCode

FEWEST_WINDOWS: Final = 60
MOST_WINDOWS: Final = 810
HALF_WIDTH: Final = 0.015
"""At most; wider is unresolved."""
AIM: Final = 0.011
"""Half-width at which windows end: at 0.015 the lower bound of a true ratio of 1 is too low one time in four."""
LOWEST_RATIO: Final = 0.98
SAMPLER_PERCENT: Final = 0.1
PAIRS: Final = 12
DEVICE_BYTES: Final = 12 * 1024**3
ZRAM: Final = Path("/sys/class/zram-control")
REPORT_WINDOWS: Final = 60

console = Console()


@dataclass(frozen=True)
class Subject:
    """A tool with the options under which it is watched, and the differences of whole runs.

    Attributes:
        repeated: texts that the arguments of the repeated call contain.
    """

    tool: str
    options: Mapping[str, Any]
    options_of_pairs: Mapping[str, Any]
    repeated: str = ""


SUBJECTS: Final = (
    # Overwritten in place: truncating the file stalls some windows and not others. Large, as real runs are: each
    # start makes a process that the sampler has to find. Small requests, so that overhead per request shows. Larger
    # ones would compete with other virtual machines for the CPU caches.
    Subject(
        "dd",
        {
            "file_size_bytes": 8 * 1024**3,
            "block_size_bytes": 4096,
            "flush": "direct",
            "operations": ["write", "overwrite"],
        },
        {"file_size_bytes": 2 * 1024**3},
        repeated="notrunc",
    ),
    # A file that fills quickly, since growing it is slower; and a long run in the windows, since each start of fio is
    # a third of a second in which nothing is written.
    Subject(
        "fio",
        {"rw": "write", "block_size_bytes": 4096, "file_size_bytes": 256 * 1024**2, "runtime_seconds": 60},
        {"runtime_seconds": 4},
    ),
    Subject(
        "iozone",
        {
            "file_size_bytes": 2 * 1024**3,
            "min_record_size_bytes": 1024**2,
            "max_record_size_bytes": 1024**2,
            "tests": ["write"],
            "flush": "direct",
        },
        {"file_size_bytes": 1024**3},
    ),
)


@contextmanager
def ext4(directory: Path) -> Iterator[Path]:
    """Mount a new ext4 on a device in memory."""
    mount_point = directory / "mount"
    mount_point.mkdir()
    with device(directory) as path:
        _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(path))
        _run("mount", str(path), str(mount_point))
        try:
            yield mount_point
        finally:
            _run("umount", str(mount_point))


@contextmanager
def device(directory: Path) -> Iterator[Path]:
    """Yield a block device in memory: zram if the kernel has it, which serves each request at once, else a loop device.

    On a faster device supervision costs relatively more, and the ratios scatter less.
    """
    if ZRAM.is_dir():
        number = (ZRAM / "hot_add").read_text().strip()
        try:
            Path(f"/sys/block/zram{number}/disksize").write_text(str(DEVICE_BYTES))
            yield Path(f"/dev/zram{number}")
        finally:
            (ZRAM / "hot_remove").write_text(number)
        return
    image = directory / "ext4.image"
    # Written out, so that the windows do not measure how the file below the loop device grows.
    _run("dd", "if=/dev/zero", f"of={image}", "bs=16M", f"count={DEVICE_BYTES}", "iflag=count_bytes", "conv=fsync")
    loop = _run("losetup", "--find", "--show", str(image))
    try:
        yield Path(loop)
    finally:
        _run("losetup", "--detach", loop)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Laboratory:
    """One agent with tools that can repeat, and the same tools without it."""

    def __init__(self, stack: LocalStack, directory: Path, target: Path, subjects: Sequence[Subject]) -> None:
        self._stack = stack
        self._target = target
        self.tools = {subject.tool: RepeatingTool(subject.tool, directory / subject.tool) for subject in subjects}
        path = ":".join([*(str(tool.bin_directory) for tool in self.tools.values()), os.environ["PATH"]])
        cluster_id = stack.add_cluster("overhead")
        self.agent = stack.add_agent(cluster_id, "node-1", [target], {"PATH": path})
        stack.add_target(cluster_id, "memory", target, [self.agent.node_id])

    def watched_run(self, subject: Subject, options: Mapping[str, Any]) -> dict[str, Any]:
        """Run an ordinary campaign and return its run as in the API."""
        campaign_id = self._submit(subject, options)
        if self._stack.wait_campaign(campaign_id)["state"] != "finished":
            raise StackError(f"the ordinary run of {subject.tool} did not finish")
        run: dict[str, Any] = self._stack.get(f"/runs/{self._run_id(campaign_id)}")
        return run

    def watched_rate(self, subject: Subject, options: Mapping[str, Any]) -> float:
        """Return the mean throughput that the tool reported in a campaign's run, in bytes per second."""
        run_id = self.watched_run(subject, options)["id"]
        samples = self._stack.get("/samples", run_id=run_id)["items"]
        return fmean(sample["value"] for sample in samples if sample["metric"] == "throughput")

    def raw_rate(self, subject: Subject, options: Mapping[str, Any]) -> float:
        """Return the same of the bare commands, started here."""
        with tempfile.TemporaryDirectory(dir=self._target.parent) as name, tempfile.TemporaryDirectory() as scratch:
            place = replace(make_place(Path(name)), scratch=Path(scratch))
            found = workload(subject.tool, {})
            chosen = found.options_type.model_validate(options)
            outcomes = run_groups(found.plan(chosen, [place]), place)
            samples = [sample for outcome in outcomes for sample in found.read(chosen, place, outcome).samples]
        return fmean(sample.value for sample in samples if sample.metric == "throughput")

    def sampler_cpu_percent(self, run_id: int) -> float:
        """Return the CPU time of the runner's sampler, in percent of one core."""
        curves = self._stack.get(f"/runs/{run_id}/curves", max_points=10_000)["items"]
        own = (curve["values"] for curve in curves if curve["counter"] == "sampler_cpu_ratio")
        return 100 * fmean(value for value in chain.from_iterable(own) if value is not None)

    @contextmanager
    def repeated(self, subject: Subject) -> Iterator[tuple[Watchers, int]]:
        """Keep a run's load going until the end of the block; yield the run's id."""
        repeating = self.tools[subject.tool]
        repeating.repeat(subject.repeated)
        campaign_id = self._submit(subject, subject.options)
        watchers = Watchers(self.agent, repeating.pid)
        try:
            yield watchers, self._run_id(campaign_id)
        finally:
            watchers.release()
            self._stack.post(f"/campaigns/{campaign_id}/cancel", {})
            self._stack.wait_campaign(campaign_id)
            repeating.repeat_no_more()

    def _submit(self, subject: Subject, options: Mapping[str, Any]) -> int:
        tool = subject.tool
        plan = {"name": tool, "cluster": "overhead", "nodes": ["node-1"], "targets": ["memory"], "repeats": 1}
        campaign: dict[str, Any] = self._stack.post(
            "/campaigns", {**plan, "workloads": [{"workload": tool, "options": dict(options)}]}
        )
        return int(campaign["id"])

    def _run_id(self, campaign_id: int) -> int:
        return int(self._stack.get("/runs", campaign_id=campaign_id)["items"][0]["id"])


@dataclass(frozen=True)
class Finding:
    """Cost of supervision for one tool.

    Attributes:
        pairs: watched to raw rate of whole runs.
        sampler_cpu_percent: of one core, as measured by the runner.
    """

    tool: str
    arguments: Sequence[str]
    windows: Windows
    pairs: Interval
    sampler_cpu_percent: float

    @property
    def is_shown(self) -> bool:
        """Whether the interval is narrow enough, its lower bound high enough and the sampler's CPU use low enough."""
        ratio = self.windows.ratio()
        is_resolved = ratio.half_width <= HALF_WIDTH
        return is_resolved and ratio.low >= LOWEST_RATIO and self.sampler_cpu_percent <= SAMPLER_PERCENT


def measure(laboratory: Laboratory, subject: Subject, most_windows: int) -> Finding:
    """Measure pairs of whole runs, then windows until their interval is narrow enough or there are too many."""
    shown = laboratory.watched_run(subject, subject.options)
    if any(flag["code"] == FlagCode.NO_DIRECT for flag in shown["flags"]):
        raise StackError(f"{subject.tool} used the page cache")
    arguments = shown["attempts"][-1]["orders"][0]["steps"][-1]["argv"]
    pairs = _pairs(laboratory, subject)
    with (
        laboratory.repeated(subject) as (watchers, run_id),
        console.status("") as status,
    ):
        tool = laboratory.tools[subject.tool]
        if _without_places(tool.arguments) != _without_places(arguments):
            raise StackError(f"the repeated {subject.tool} got {tool.arguments}, the run page shows {arguments}")
        windows = Windows(tool, watchers)
        windows.take_block()  # the first windows still see the journal and the allocator settle
        windows.blocks.clear()
        while len(windows) < most_windows:
            windows.take_block()
            status.update(f"{subject.tool}: {len(windows)} windows")
            if len(windows) >= FEWEST_WINDOWS:
                so_far = windows.ratio()
                if so_far.half_width <= AIM:
                    break
                if len(windows) % REPORT_WINDOWS == 0:
                    print(f"{subject.tool}: after {len(windows)} windows {so_far}; taking more", file=sys.stderr)
    return Finding(subject.tool, arguments, windows, pairs, laboratory.sampler_cpu_percent(run_id))


def _pairs(laboratory: Laboratory, subject: Subject) -> Interval:
    options = {**subject.options, **subject.options_of_pairs}
    rates: list[tuple[float, float]] = []
    for watched_first in islice(cycle([True, False]), PAIRS):
        if watched_first:
            watched = laboratory.watched_rate(subject, options)
            rates.append((watched, laboratory.raw_rate(subject, options)))
        else:
            raw = laboratory.raw_rate(subject, options)
            rates.append((laboratory.watched_rate(subject, options), raw))
    return typical_ratio(rates)


def _without_places(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without paths, since each run has its own directories."""
    return [argument for argument in arguments if "/" not in argument or argument == "if=/dev/zero"]


def report(finding: Finding, device_name: str) -> None:
    """Print the results of one tool."""
    windows = finding.windows
    cpu_percent = 100 * windows.watching_cpu_seconds / windows.watched_seconds
    rates = [block.raw.rate for block in windows.blocks]
    stolen = fmean(block.raw.stolen_ratio for block in windows.blocks)
    table = Table(title=f"Supervision of {' '.join(finding.arguments)}", show_header=False)
    table.add_row("on", f"an ext4 on {device_name}")
    table.add_row("windows of 1 s", f"{len(windows)}: a third watched, two thirds raw")
    table.add_row(
        "raw rate", f"{fmean(rates) / 1e6:.0f} MB/s; by {stdev(rates) / fmean(rates):.1%} from window to window"
    )
    table.add_row("stolen by a hypervisor", f"{stolen:.1%} of one core on average")
    table.add_row("watched / raw at equal theft, 95 % interval", str(windows.ratio()))
    table.add_row("the same, uncorrected for theft", str(windows.ratio_as_seen()))
    table.add_row("the same from means, disk stalls included", str(windows.ratio_of_means()))
    table.add_row("raw / raw (control)", str(windows.control()))
    table.add_row(f"{PAIRS} pairs of whole runs, watched / raw", str(finding.pairs))
    table.add_row("CPU of agent, Celery worker and runner", f"{cpu_percent:.2f} % of one core")
    table.add_row("the sampler's part", f"{finding.sampler_cpu_percent:.3f} % of one core")
    console.print(table)
    if windows.ratio().half_width > HALF_WIDTH:
        print(f"{finding.tool}: unresolved after {len(windows)} windows, wanted a half-width of {HALF_WIDTH}")


def last_line(findings: Sequence[Finding]) -> str:
    """Return all ratios in one line."""
    ratios = {finding.tool: finding.windows.ratio() for finding in findings}
    values = [
        *(f"ratio_{tool}={ratio.estimate:.4f}" for tool, ratio in ratios.items()),
        *(f"ci_{tool}=[{ratio.low:.4f},{ratio.high:.4f}]" for tool, ratio in ratios.items()),
        f"sampler_cpu_percent={max(finding.sampler_cpu_percent for finding in findings):.3f}",
        f"windows={sum(len(finding.windows) for finding in findings)}",
    ]
    return f"overhead: {' '.join(values)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = "directory of the loop device's image if the kernel has no zram: %(default)s"
    parser.add_argument("--image-in", type=Path, default=usual_place(), help=where)
    names = [subject.tool for subject in SUBJECTS]
    parser.add_argument("--most-windows", type=int, default=MOST_WINDOWS, help="of each tool: %(default)s")
    parser.add_argument("--only", choices=names, nargs="+", default=names, help="which tools (all)")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("overhead: it mounts an ext4 of its own, so run it as root: sudo ./dev bench overhead", file=sys.stderr)
        return 2
    subjects = [subject for subject in SUBJECTS if subject.tool in asked.only]
    findings: list[Finding] = []
    with own_directory(asked.image_in) as directory, ext4(directory) as mount_point, running_stack() as stack:
        device_name = _run("findmnt", "--noheadings", "--output", "SOURCE", str(mount_point))
        laboratory = Laboratory(stack, directory, mount_point / "target", subjects)
        for subject in subjects:
            findings.append(measure(laboratory, subject, asked.most_windows))
            report(findings[-1], device_name)
    print(last_line(findings))
    return 0 if all(finding.is_shown for finding in findings) else 1


@contextmanager
def own_directory(parent: Path) -> Iterator[Path]:
    """Make a directory below `parent` and remove it with its contents at the end."""
    directory = Path(tempfile.mkdtemp(prefix="iotide-overhead-", dir=parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def usual_place() -> Path:
    """Return a directory in memory if it has room."""
    memory = Path("/dev/shm")  # noqa: S108 - the bench makes its own directory there
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 2 * DEVICE_BYTES
    return memory if has_room else Path(tempfile.gettempdir())


if __name__ == "__main__":
    sys.exit(main())

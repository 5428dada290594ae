"""Life of one order: create directories, wait for the start signal, run steps, clean up, write the result."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from iotide_agent.runner import processes
from iotide_agent.runner.aftermath import clean_up_after, lock_order
from iotide_agent.runner.caches import prepare_caches
from iotide_agent.runner.card import ATTEMPT, Go, StepCard, read_card, read_go
from iotide_agent.runner.direct_use import Cached, cached, evict
from iotide_agent.runner.doorbell import Doorbell, ring
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.gang_part import MakePart
from iotide_agent.runner.groups import Groups, seconds_left
from iotide_agent.runner.hand import TARGET_ERRORS, Check, HandFailedError, HandHungError, HandLimits, Hands, go_on
from iotide_agent.runner.headroom import is_full
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.mount_watch import MountWatch
from iotide_agent.runner.orphans import find_orphans
from iotide_agent.runner.places import Places, make_places
from iotide_agent.runner.record import Ending, Measured, Settled, as_unkilled, await_room, exit_record, write_exit
from iotide_agent.runner.sampler import Observer, Sampler
from iotide_agent.runner.sockets import Sockets
from iotide_agent.runner.users import acting_as, hand_over
from iotide_agent.runner.walls import print_reasons
from iotide_agent.runner.workspace import TargetRefusedError

T = TypeVar("T")

TARGET_PATIENCE: Final = 3
REMOVE_SECONDS: Final = 600.0
"""On ext3 a terabyte takes minutes."""
REMOUNT_SECONDS: Final = 300.0
"""A journal or a restarted server may need recovery."""
LONGEST_GO_SECONDS: Final = 120.0
"""The server sets a common start a few heartbeats ahead; more means that a clock jumped."""
LATE_START_SECONDS: Final = 60.0
"""A node that learns of a gang's start later than this does not start: the others have finished."""
OPENING_SECONDS: Final = 0.1
"""Counters are opened this long before a set start; with thousands of processes that takes 50 ms."""
FORKING_SECONDS: Final = 0.03
"""The first loads' processes are created this long before a set start and wait for it themselves."""


class Runner:
    """Single-threaded, so that forking is safe and no change is missed between two checks."""

    def __init__(self, directory: Path, locks: tuple[int, ...], make_part: MakePart | None = None) -> None:
        self._directory = directory
        self._card = read_card(directory)
        self._loop = Loop()
        self._bell = Doorbell(directory / "bell")
        self._loop.watch(self._bell.fileno(), self._on_bell)
        self._was_rung = True
        self._locks = locks
        self._hands = Hands(self._loop, locks)
        self._is_terminated = False
        self._ends_by: float | None = None
        self._groups: Groups | None = None
        self._observer: Observer | None = None
        self._places = Places(self._card)
        self._sockets = Sockets()
        gang = self._card.gang
        self._gang = make_part(self._card, gang, directory, self._loop) if gang and make_part else None
        self._mounts: MountWatch | None = None
        self._target_seconds = TARGET_PATIENCE * self._card.patience_seconds
        self._phase: dict[str, Any] = {}
        self._cached_before: dict[str, Cached] = {}

    def live(self) -> None:
        """Process the order and write `exit.json`, whatever happens except sudden death."""
        processes.become_subreaper()
        signal.signal(signal.SIGTERM, self._on_term)
        own = processes.stat_of(os.getpid())
        self._note(boot_id=processes.boot_id(), pid=os.getpid(), start_ticks=own.start_ticks if own else 0)
        ending = self._ending()
        with suppress(OSError):
            if self._gang:
                self._gang.close()
            if self._groups:
                self._groups.finish()
            if self._observer:
                self._loop.every(None)
                self._observer.finish()
            self._note(phase="settling")
        # A stuck load may continue to write when its target recovers.
        settled = Settled([], self._places.possible()) if ending.code == "stuck" else self._settle()
        record = exit_record(self._phase, ending, settled, self._measured())
        if self._gang:
            record["gang"] = self._gang.record()
            with suppress(OSError):  # if the disk with the log is full
                sys.stderr.write(f"gang {json.dumps(record['gang'])}\n")
        left = processes.descendants(os.getpid()) if ending.code == "stuck" else []
        await_room(lambda: self._write_rest(record, left))
        ring(Path(self._card.agent_bell))

    def _write_rest(self, record: dict[str, Any], left: Sequence[processes.Stat]) -> bool:
        source = self._groups or self._observer
        if source is not None and not source.write_rest():
            return False
        if left:
            # Recorded by pid, because a process may have closed the locks that identify the others.
            self._note(durable=True, unkilled=as_unkilled(left))
        write_exit(self._directory, record)
        return True

    def _ending(self) -> Ending:
        try:
            if self._card.observes:
                self._observe()
            else:
                self._prepare()
                self._perform(self._await_go())
        except RunEndedError as error:
            cause = self._cause_of(error)
            return Ending(cause.outcome, cause.code, str(cause))
        except Exception as error:  # noqa: BLE001 - a fault of ours must still remove the files and report
            sys.excepthook(*sys.exc_info())
            reason = f"internal error of the runner: {type(error).__name__}: {error}"
            return Ending("failed", "agent_fault", reason)
        return Ending("finished", None, None)

    def _cause_of(self, error: RunEndedError) -> RunEndedError:
        if error.code == "step_failed":
            try:
                self._verify_places(str(error), go_on, self._places.verify_after_failure)
            except RunEndedError as cause:
                return cause
        return error

    def _observe(self) -> None:
        until = processes.boottime() + self._card.time_limit_seconds
        self._observer = Observer(self._directory / "curve.jsonl")
        self._loop.every(self._observer.tick)
        self._note(
            phase="running", started_at_epoch_seconds=time.time(), started_at_boottime_seconds=processes.boottime()
        )
        while processes.boottime() < until:
            self._check()
            self._loop.turn(until)
        reason = f"the end of the benchmark was not reported within {self._card.time_limit_seconds:g} s"
        raise RunEndedError("finished", "unended", reason)

    def _prepare(self) -> None:
        self._note(phase="preparing")
        limits = HandLimits(self._target_seconds, self._target_seconds)
        if self._gang:
            self._gang.check_programs(self._hands, limits, self._check)
        made = make_places(self._hands, self._places, limits, self._check)
        places = [place._asdict() | {"mount": place.mount._asdict()} for place in made]
        listening = {"ports": self._listen()} | (self._gang.listen() if self._gang else {})
        self._note(phase="ready", places=places, address=self._card.listen_address, **listening)

    def _listen(self) -> list[int]:
        address = self._card.listen_address
        try:
            return self._sockets.open(address, self._card.sockets)
        except OSError as error:
            reason = f"the run cannot listen at {address}: {error.strerror}; correct `data_address` in agent.toml"
            raise RunEndedError("declined", "cannot_listen", reason) from error

    def _await_go(self) -> Go:
        until = processes.boottime() + self._card.time_limit_seconds + self._card.others_wait_seconds
        while (go := read_go(self._directory)) is None:
            self._check()
            if processes.boottime() >= until:
                raise RunEndedError("declined", "go_never_came", "no start signal arrived")
            self._loop.turn(until)
        if go.at_boottime_seconds is not None:
            ahead_seconds = go.at_boottime_seconds - processes.boottime()
            if ahead_seconds > LONGEST_GO_SECONDS:
                reason = f"the start is {ahead_seconds:.0f} s in the future; check the clocks of server and node"
                raise RunEndedError("declined", "go_too_late", reason)
            if ahead_seconds < -LATE_START_SECONDS:
                reason = f"the common start was {-ahead_seconds:.0f} s ago when this node learned of it"
                raise RunEndedError("declined", "go_missed", reason)
        return go

    def _wait_until(self, moment: float) -> None:
        while processes.boottime() < moment:
            self._check()
            self._loop.turn(moment)

    def _perform(self, go: Go) -> None:
        """Run the groups; the first one is prepared before the time at which all nodes start."""
        start_at = max(processes.boottime(), go.at_boottime_seconds or 0.0)
        self._ends_by = start_at + self._card.time_limit_seconds
        try:
            for name in ("scratch", "out"):
                (self._directory / name).mkdir(mode=0o700, exist_ok=True)
            hand_over(self._directory, ("scratch", "endpoint.json"), self._card.run_as)
            if self._gang:
                limits = HandLimits(self._target_seconds, self._target_seconds)
                self._gang.meet(self._places.of_run(), self._hands, limits, self._check)
            # Durable and before any load: after a crash, "may have started" and "never started" must differ.
            self._note(durable=True, phase="running", intent=True)
        except OSError as error:
            reason = f"{self._directory} on the agent's disk cannot be written: {error.strerror}; free some space there"
            raise RunEndedError("declined", "state_disk_full", reason) from error
        self._mounts = MountWatch(self._loop, self._places.directories())
        for group in go.groups:
            before_done = self._before(group)
            if self._groups is None:
                self._wait_until(start_at - OPENING_SECONDS)
                self._groups = self._make_groups()
                self._wait_until(start_at - FORKING_SECONDS)
                self._groups.run_first(group, before_done, self._ends_by, max(start_at, processes.boottime()))
            else:
                self._groups.run(group, before_done, self._ends_by)
            self._count_cached(group)
            self._note(loads=[], steps=self._groups.records)

    def _make_groups(self) -> Groups:
        scratch, output = self._directory / "scratch", self._directory / "out"
        card = self._card
        environment = card.environment | {"HOME": str(scratch), "TMPDIR": str(scratch)}
        environment |= {ATTEMPT: card.attempt} if card.attempt else {}
        environment |= self._gang.environment() if self._gang else {}
        surroundings = Surroundings(
            scratch,
            output,
            card.output_limit_bytes,
            card.patience_seconds,
            self._locks,
            environment,
            self._sockets,
            card.memory_limit_bytes,
            card.run_as,
        )
        make_sampler = partial(Sampler, self._directory / "curve.jsonl", self._places.mounts())
        make = self._gang.make_groups if self._gang else Groups
        return make(self._loop, surroundings, make_sampler, check=self._check, note=self._note_loads)

    def _before(self, group: Sequence[StepCard]) -> list[str]:
        done = [self._do_before(step, partial(self._prepare_caches, step)) for step in group]
        remounted = next((step for step in group if step.before == "remount"), None)
        if remounted is not None:
            self._do_before(remounted, self._remount)
        return done

    def _prepare_caches(self, step: StepCard) -> str:
        def work() -> tuple[str, Cached]:
            self._places.verify()
            done = prepare_caches(step.before, self._card, self._places.directories(), step.declared_files)
            with acting_as(self._card.run_as):
                if all(target.writes or target.shared for target in self._card.targets):
                    evict(step.direct_files)
                return done, cached(step.direct_files)

        limit_seconds = seconds_left(self._ends_by or 0.0)
        done, before = self._hands.do(work, HandLimits(limit_seconds, limit_seconds), self._check)
        self._cached_before[step.name] = Cached(*before)
        return str(done)

    def _count_cached(self, group: Sequence[StepCard]) -> None:
        """Record how many bytes each step with O_DIRECT left in the page cache."""
        claimed = [step for step in group if step.direct_files]
        if not claimed or self._groups is None:
            return

        def work() -> list[Cached]:
            with acting_as(self._card.run_as):
                return [cached(step.direct_files) for step in claimed]

        try:
            found = self._hands.do(work, HandLimits(self._target_seconds, self._target_seconds), self._check)
        except (HandHungError, HandFailedError):
            return  # the next access to the target reports it
        after = {step.name: Cached(*counted) for step, counted in zip(claimed, found, strict=True)}
        for record in self._groups.records[-len(group) :]:
            if (counted := after.get(record["name"])) is not None:
                before = self._cached_before[record["name"]]
                record |= {"cached_before_bytes": before.cached_bytes, **counted._asdict()}

    def _remount(self) -> None:
        self._places.let_go()
        # Not interrupted even by a cancel: the target would stay unmounted with the run's files on it.
        mounts = self._hands.do(self._places.remount, HandLimits(REMOUNT_SECONDS, REMOUNT_SECONDS), go_on)
        self._places.hold_again(mounts)
        self._check()

    def _do_before(self, step: StepCard, work: Callable[[], T]) -> T:
        try:
            return work()
        except TARGET_ERRORS as error:
            raise RunEndedError("failed", error.code, f"before step {step.name}: {error}") from error

    def _verify_places(self, when: str, check: Check, verify: Callable[[], None]) -> None:
        limits = HandLimits(self._target_seconds, self._target_seconds)
        try:
            self._hands.do(verify, limits, check)
        except HandHungError:
            return  # its load will show if the target still answers
        except (TargetRefusedError, HandFailedError) as error:
            raise RunEndedError("failed", error.code, f"{when}: {error}") from error

    def _settle(self) -> Settled:
        try:
            limits, may_write = HandLimits(REMOVE_SECONDS, self._target_seconds), self._gang and "intent" in self._phase
            return self._places.settle(self._hands, limits, others_may_write=bool(may_write))
        except (HandHungError, HandFailedError) as error:
            with suppress(OSError):  # if the disk with the log is full
                sys.stderr.write(f"settle_failed error={error}\n")
            return Settled([], self._places.possible())

    def _check(self) -> None:
        if self._was_rung:
            self._was_rung = False
            self._check_cancel()
        if self._is_terminated:
            raise RunEndedError(
                "failed", "node_shut_down", "the runner was terminated (SIGTERM), as in a shutdown of the node"
            )
        if self._ends_by is not None and processes.boottime() >= self._ends_by:
            limit_seconds = self._card.time_limit_seconds
            raise RunEndedError("failed", "time_limit", f"the time limit of {limit_seconds:g} s was reached")
        if self._gang is not None:
            self._gang.check()
        if self._mounts is not None and self._mounts.take_change():
            self._verify_places("the mounts changed", self._check, self._places.verify)

    def _check_cancel(self) -> None:
        cancel = read_json(self._directory / "cancel.json")
        if cancel is not None:
            raise RunEndedError(cancel["outcome"], cancel["code"], cancel["reason"])

    def _note_loads(self, loads: list[Load]) -> None:
        if "started_at_epoch_seconds" not in self._phase:
            ago_seconds = time.monotonic() - min(load.started_at for load in loads)
            self._phase |= {
                "started_at_epoch_seconds": time.time() - ago_seconds,
                "started_at_boottime_seconds": processes.boottime() - ago_seconds,
            }
        self._note(loads=[{"pid": load.pid, "start_ticks": load.start_ticks} for load in loads])

    def _note(self, *, durable: bool = False, **changes: Any) -> None:  # noqa: ANN401 - JSON
        self._phase |= changes
        try:
            # No fsync during a measurement: only a power failure tears the file, and it ends all processes anyway.
            replace_file(self._directory / "phase.json", json.dumps(self._phase), durable=durable)
        except OSError as error:
            if durable or not is_full(error):
                raise
            # Only progress is lost; a full disk does not end the load.
        ring(Path(self._card.agent_bell))

    def _measured(self) -> Measured:
        usage = os.times()
        if self._observer is not None:
            return Measured([], 0, 0.0, self._observer.cpu_seconds, usage.user + usage.system)
        if self._groups is None:
            return Measured([])
        return Measured(
            self._groups.records,
            self._groups.escaped_processes,
            self._groups.sampler.longest_still_seconds,
            self._groups.sampler.cpu_seconds,
            usage.user + usage.system,
        )

    def _on_bell(self) -> None:
        self._bell.quiet()
        self._was_rung = True

    def _on_term(self, _number: int, _frame: object) -> None:
        self._is_terminated = True
        self._bell.ring_self()


def main(arguments: list[str], make_part: MakePart | None = None) -> int:
    """Arguments: ORDER_DIRECTORY, `--aftermath` if another runner died, descriptors of the node's lock.

    `--orphans` searches for orphaned directories. `--walls`, with a user's ids and paths, prints why other users could
    redirect each path, or why the user cannot use it. `make_part` is that of one program over several nodes.
    """
    if arguments[0] == "--walls":
        print_reasons([int(number) for number in arguments[1].split(",") if number], arguments[2:])
        return 0
    directory = Path(arguments[0])
    if "--orphans" in arguments:
        find_orphans(directory)
        return 0
    inherited = tuple(int(number) for number in arguments[1:] if number != "--aftermath")
    if "--aftermath" in arguments:
        clean_up_after(directory, inherited)
        return 0
    for descriptor in inherited:
        os.set_inheritable(descriptor, False)  # until a load is started
    own_lock = lock_order(directory)
    Runner(directory, (own_lock, *inherited), make_part).live()
    return 0

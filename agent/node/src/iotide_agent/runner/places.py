"""Directories of a run on all its targets: created together, held open during the run, removed at its end."""

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from iotide_agent.runner import processes
from iotide_agent.runner.caches import run_command
from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.counters.source import TargetMount
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.files import closing
from iotide_agent.runner.hand import Check, HandFailedError, HandHungError, HandLimits, Hands, go_on
from iotide_agent.runner.mounts import MountLine
from iotide_agent.runner.record import Settled
from iotide_agent.runner.users import acting_as
from iotide_agent.runner.walls import OpenToOthersError
from iotide_agent.runner.workspace import (
    MadePlace,
    TargetRefusedError,
    check_mount,
    has_mark_of,
    has_marked,
    make_place,
    open_beneath,
    refused_by,
    refuses_files,
    remove_marked,
    verify,
)

CUT_OFF_SECONDS: Final = 10.0
"""A member notices a lost head within half of this, and then kills its part."""
_AGAIN_SECONDS: Final = 0.5
P = ParamSpec("P")
T = TypeVar("T")


class _HeldTarget(NamedTuple):
    """`made` is the stat result of the run's directory.

    `parent` is the target's own directory, kept open so that its mount id is not reused.
    """

    parent: int
    mount: MountLine
    directory: str
    made: os.stat_result


def _as_user(method: Callable[Concatenate["Places", P], T]) -> Callable[Concatenate["Places", P], T]:
    @wraps(method)
    def acting(places: "Places", /, *args: P.args, **named: P.kwargs) -> T:
        with acting_as(places.run_as):
            return method(places, *args, **named)

    return acting


class Places:
    """Directories of a run. A forked child makes every access to a target, except to hold open what just answered."""

    def __init__(self, card: Card, made_on: Iterable[int] = ()) -> None:
        """`made_on` are targets on which another runner created directories."""
        self._card = card
        self.run_as = card.run_as
        self._made_on = set(made_on)
        self._held: dict[int, _HeldTarget] = {}
        self._places: list[MadePlace] = []
        self.hung = False

    @_as_user
    def make(self) -> list[MadePlace]:
        return [make_place(self._card, target) for target in self._card.targets]

    @_as_user
    def hold(self, places: list[MadePlace]) -> None:
        """Hold the directories open: an unmount then fails as busy, and removal finds them after a lazy one.

        Raise TargetRefusedError if the mount changed since `make`.
        """
        self._places = places
        for target, place in zip(self._card.targets, places, strict=True):
            self._made_on.add(target.target_id)
            parent, path = open_beneath(self._card.approved, target.path)
            made = self._made_below(parent) if target.writes else os.fstat(parent)
            # A member holds the target's own directory: the head may make that of the run later.
            directory = path if target.shared else place.directory
            self._held[target.target_id] = _HeldTarget(parent, place.mount, directory, made)
            _require_same(check_mount(parent, target), place.mount)

    def _made_below(self, parent: int) -> os.stat_result:
        return os.stat(self._card.directory_name, dir_fd=parent, follow_symlinks=False)

    def directories(self) -> list[str]:
        return [held.directory for held in self._held.values()]

    def of_run(self) -> list[str]:
        """Return the run's directory on each target."""
        return [place.directory for place in self._places]

    def mounts(self) -> list[TargetMount]:
        return [
            TargetMount(held.mount.mount_point, held.mount.fstype, held.mount.source, held.made.st_dev)
            for held in self._held.values()
        ]

    @_as_user
    def verify(self) -> None:
        """Check that each target is still the same mount, and that its path leads to the run's directory.

        Tools open files by path. After a lazy unmount it leads to the disk below, after another mount to that one,
        although the open directory is still the old one. Raise TargetRefusedError if a target was unmounted, mounted
        over, renamed or made read-only.
        """
        for target in self._card.targets:
            if target.target_id in self._held:
                self._verify_held(target, self._held[target.target_id])

    def _verify_held(self, target: TargetCard, held: _HeldTarget) -> None:
        try:
            parent, _ = open_beneath(self._card.approved, target.path)
        except TargetRefusedError as error:
            raise TargetRefusedError("wrong_mount", f"{target.path} changed during the run: {error}") from error
        with closing(parent):
            mount = check_mount(parent, target)
            _require_same(mount, held.mount)
        verify(held.directory, held.made)
        if mount.is_read_only and not held.mount.is_read_only:
            raise _became_read_only(target.path, mount)

    @_as_user
    def verify_after_failure(self) -> None:
        """Like `verify`, and check that each target with a directory accepts a new file.

        ext4 refuses writes as soon as its journal is aborted, but may become read-only long after the load has
        failed.
        """
        self.verify()
        for target in self._card.targets:
            held = self._held.get(target.target_id)
            if held is None or not target.writes or held.mount.is_read_only:
                continue
            if refuses_files(held.directory, held.made):
                raise _became_read_only(target.path, held.mount)

    def let_go(self) -> None:
        """Close the directories, which would block a remount; `hold_again` follows."""
        for held in self._held.values():
            os.close(held.parent)
        self._held.clear()

    def remount(self) -> list[MountLine]:
        """Unmount and mount each target; raise TargetRefusedError if that fails or mounts something else."""
        return [self._remount(target) for target in self._card.targets]

    def _remount(self, target: TargetCard) -> MountLine:
        words = " ".join(target.remount_command)
        try:
            is_done = run_command(target.remount_command)
        except OpenToOthersError as error:
            reason = f"{target.path} was not remounted: `{words}` of agent.toml was not run, because {error}"
            raise TargetRefusedError("remount_failed", reason) from error
        if not is_done:
            reason = f"{target.path} was not remounted: `{words}` of agent.toml failed, see runner.log"
            raise TargetRefusedError("remount_failed", reason)
        return self._remounted(target)

    @_as_user
    def _remounted(self, target: TargetCard) -> MountLine:
        parent, path = open_beneath(self._card.approved, target.path)
        with closing(parent):
            mount = check_mount(parent, target)
            if not self._is_there(parent, path, target):
                reason = f"{path} lost the run's files in the remount; choose another cache policy for this target"
                raise TargetRefusedError("remount_failed", reason)
        return mount

    def _is_there(self, parent: int, path: str, target: TargetCard) -> bool:
        card = self._card
        if not target.shared or card.gang is None:
            return has_marked(parent, path, card)
        try:
            return has_mark_of(parent, card.directory_name, card.gang.order_id, card.fence)
        except FileNotFoundError:
            return False

    def hold_again(self, mounts: list[list[Any]]) -> None:
        remounted = zip(self._places, mounts, strict=True)
        self.hold([place._replace(mount=MountLine(*mount)) for place, mount in remounted])

    def settle(self, hands: Hands, limits: HandLimits, *, others_may_write: bool = False) -> Settled:
        """Check that each target is still its mount, and remove the directories; raise like `Hands.do`.

        Members of a gang that are cut off write until they notice it; then its head tries again.
        """
        if self.hung:
            return Settled([], self.possible())
        settled = Settled(*hands.do(self._settle_all, limits, go_on))
        until = processes.boottime() + (CUT_OFF_SECONDS if others_may_write else 0.0)
        while settled.leftovers and processes.boottime() < until:
            processes.sleep_until(processes.boottime() + _AGAIN_SECONDS)
            settled = Settled(*hands.do(self._settle_all, limits, go_on))
        return settled

    def possible(self) -> list[str]:
        return [self._path(target) for target in self._card.targets if target.writes]

    def _path(self, target: TargetCard) -> str:
        return f"{target.path}/{self._card.directory_name}"

    @_as_user
    def _settle_all(self) -> Settled:
        problems: list[str] = []
        leftovers: list[str] = []
        removed: list[str] = []
        for target in self._card.targets:
            if target.target_id in self._held:
                problems += self._mount_problems(target)
            if target.writes:
                was_removed, is_left = self._remove(target)
                removed += [self._path(target)] if was_removed else []
                leftovers += [self._path(target)] if is_left else []
        return Settled(problems, leftovers, removed)

    def _mount_problems(self, target: TargetCard) -> list[str]:
        try:
            self._verify_held(target, self._held[target.target_id])
        except TargetRefusedError as error:
            return [str(error)]
        except OSError as error:
            return [f"{target.path} cannot be checked after the run: {error}"]
        return []

    def _remove(self, target: TargetCard) -> tuple[bool, bool]:
        """Return whether the directory was removed, and whether it still exists."""
        held = self._held.get(target.target_id)
        try:
            was_removed = held is not None and remove_marked(held.parent, self._card)
            return was_removed or self._remove_at_path(target), False
        except TargetRefusedError:
            return False, target.target_id in self._made_on
        except OSError:
            return False, target.target_id in self._made_on or Path(self._path(target)).is_dir()

    def _remove_at_path(self, target: TargetCard) -> bool:
        parent, _ = open_beneath(self._card.approved, target.path)
        with closing(parent):
            was_removed = remove_marked(parent, self._card)
            if not was_removed and target.target_id not in self._held:
                check_mount(parent, target)
        return was_removed


def _became_read_only(path: str, mount: MountLine) -> TargetRefusedError:
    reason = f"{path} became read-only during the run; mount {mount.mount_point} read-write again"
    return TargetRefusedError("target_read_only", reason)


def _require_same(found: MountLine, expected: MountLine) -> None:
    if found.mount_id != expected.mount_id:
        reason = f"{found.source!r} was mounted again at {found.mount_point} during the run"
        raise TargetRefusedError("wrong_mount", reason)


def make_places(hands: Hands, places: Places, limits: HandLimits, check: Check) -> list[MadePlace]:
    try:
        answer = hands.do(places.make, limits, check)
        made = [_place(values) for values in answer]
        places.hold(made)
    except TargetRefusedError as error:
        raise RunEndedError("declined", error.code, str(error)) from error
    except HandHungError as error:
        places.hung = True
        raise RunEndedError("declined", "target_hangs", f"a target does not answer: {error}") from error
    except HandFailedError as error:
        raise RunEndedError("declined", "target_error", f"a target cannot be used: {error}") from error
    except OSError as error:
        refused = refused_by(error, "target_error", f"a target cannot be used: {error}")
        raise RunEndedError("declined", refused.code, str(refused)) from error
    return made


def _place(values: list[Any]) -> MadePlace:
    target_id, directory, mount, *rest = values
    return MadePlace(target_id, directory, MountLine(*mount), *rest)

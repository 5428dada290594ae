"""The run's directories on all its targets: made together, held open while the run lasts, removed whatever happened."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.hand import Check, HandFailedError, HandHungError, Hands, Limits
from iotide_agent.runner.mounts import MountLine
from iotide_agent.runner.record import Settled
from iotide_agent.runner.workspace import (
    MadePlace,
    TargetRefusedError,
    check_mount,
    make_place,
    open_beneath,
    remove_marked,
    verify,
)


class Places:
    """Where the run works; every access to a target goes through a hand, except to hold open what just answered."""

    def __init__(self, card: Card, made_on: Iterable[int] = ()) -> None:
        """Knows of no directory yet.

        Args:
            made_on: ids of targets on which another runner is known to have made one.
        """
        self._card = card
        self._made_on = set(made_on)
        self._parents: dict[int, int] = {}
        self._made: dict[str, os.stat_result] = {}
        self.hung = False

    def make(self) -> list[MadePlace]:
        """Makes a directory on each target.

        Raises:
            TargetRefusedError: as `make_place`.
        """
        return [make_place(self._card, target) for target in self._card.targets]

    def hold(self, places: list[MadePlace]) -> None:
        """Holds the directories open: a plain unmount is refused as busy, and removal finds them after a lazy one."""
        for target, place in zip(self._card.targets, places, strict=True):
            self._made_on.add(target.target_id)
            self._parents[target.target_id], _ = open_beneath(self._card.approved, target.path)
            self._made[place.directory] = Path(place.directory).stat(follow_symlinks=False)

    def directories(self) -> list[str]:
        """The directories that were made."""
        return list(self._made)

    def verify(self) -> None:
        """Makes sure that each directory's path still leads to it.

        Raises:
            TargetRefusedError: a target was unmounted, mounted over or renamed.
        """
        for directory, expected in self._made.items():
            verify(directory, expected)

    def settle(self, hands: Hands, limits: Limits) -> Settled:
        """Looks whether each target is still the mount that it was, and removes the directories.

        Raises:
            HandHungError, HandFailedError: a target does not answer or refuses.
        """
        if self.hung:
            return Settled([], self.possible())
        settled = hands.do(self._settle_all, limits, _let_it_end)
        return Settled(*settled)

    def possible(self) -> list[str]:
        """Where a directory of this run may be."""
        return [self._path(target) for target in self._card.targets if target.writes]

    def _path(self, target: TargetCard) -> str:
        return f"{target.path}/{self._card.directory_name}"

    def _settle_all(self) -> Settled:
        problems: list[str] = []
        leftovers: list[str] = []
        for target in self._card.targets:
            if target.target_id in self._parents:
                problems += self._mount_problems(target)
            leftovers += self._remove(target) if target.writes else []
        return Settled(problems, leftovers)

    def _mount_problems(self, target: TargetCard) -> list[str]:
        try:
            parent, _ = open_beneath(self._card.approved, target.path)
            check_mount(parent, target)
            self.verify()
        except TargetRefusedError as error:
            return [str(error)]
        except OSError as error:
            return [f"{target.path} cannot be looked at after the run: {error}"]
        return []

    def _remove(self, target: TargetCard) -> list[str]:
        held = self._parents.get(target.target_id)
        removed = False
        try:
            removed = held is not None and remove_marked(held, self._card)
            parent, _ = open_beneath(self._card.approved, target.path)
            remove_marked(parent, self._card)
        except TargetRefusedError:
            # A target that was refused before anything was made on it holds nothing of ours.
            is_left = target.target_id in self._made_on
        except OSError:
            is_left = target.target_id in self._made_on or Path(self._path(target)).is_dir()
        else:
            is_left = False
        return [self._path(target)] if is_left and not removed else []


def make_places(hands: Hands, places: Places, limits: Limits, check: Check) -> list[MadePlace]:
    """Makes the directories on all targets by hand and holds them.

    Raises:
        RunEndedError: declined, because a target is not as the order says or does not answer.
    """
    try:
        answer = hands.do(places.make, limits, check)
        made = [_place(values) for values in answer]
        places.hold(made)
    except TargetRefusedError as error:
        raise RunEndedError("declined", error.code, str(error)) from error
    except HandHungError as error:
        places.hung = True
        raise RunEndedError("declined", "target_hangs", f"a target does not answer: {error}") from error
    except (HandFailedError, OSError) as error:
        raise RunEndedError("declined", "target_error", f"a target cannot be used: {error}") from error
    return made


def _place(values: list[Any]) -> MadePlace:
    target_id, directory, mount, *rest = values
    return MadePlace(target_id, directory, MountLine(*mount), *rest)


def _let_it_end() -> None:
    """Removal is not cut short: a cancelled run leaves nothing behind either."""

"""What orders left on targets: tried again until it is gone, and found by its marks where the disk lost its name."""

import logging
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from iotide_agent.core.spool import NodeBusyError, Spool
from iotide_agent.orders.executor import Executor
from iotide_agent.orders.runner_process import RunnerProcess
from iotide_agent.runner.files import read_json
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.strays import Stray, read_found

_MAX_LOGGED: Final = 4000
_logger = logging.getLogger(__name__)


def log_removed(order_id: object, ended: Mapping[str, Any] | None) -> None:
    """Says in the agent's log what was removed from targets, by the last word of whoever removed it."""
    removed = ended.get("removed") if ended else None
    if removed:
        _logger.info("removed order_id=%s paths=%s", order_id, shown(removed))


def shown(paths: Sequence[str]) -> str:
    """Paths for a line of the log."""
    text = " ".join(paths)
    return text if len(text) <= _MAX_LOGGED else f"{text[:_MAX_LOGGED]}... ({len(paths)} in all)"


class Leftovers:
    """The directories on targets that no run uses any more."""

    def __init__(self, spool: Spool, executor: Executor, loop: Loop, is_idle: Callable[[], bool]) -> None:
        self._is_idle = is_idle
        self._spool = spool
        self._executor = executor
        self._loop = loop
        self._cleaning: set[Path] = set()
        self._may_search = False
        self._is_search_due = True
        self._search: RunnerProcess | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether something is removed or looked for now."""
        return bool(self._cleaning) or self._search is not None

    def allow_search(self) -> None:
        """From now on strays are looked for: once, on the first idle occasion, and again where a card was torn."""
        self._may_search = True

    def clean(self) -> None:
        """Tries again to remove what targets would not give up before; a try that hangs is not joined by a second."""
        if self._search is not None or not self._is_idle():
            return  # it goes on once the search has ended, or on the next idle occasion
        for directory in self._spool.leftovers():
            if directory not in self._cleaning:
                self._clean(directory)
        self._search_if_due()

    def stop_search(self) -> None:
        """Ends a search, so that it runs beside no measurement; it begins anew on the next idle occasion."""
        if self._search is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._search.pidfd, signal.SIGKILL)
            self._is_search_due = True

    def _clean(self, directory: Path) -> None:
        order_id = directory.name.partition("-")[0]
        if (self._spool.held / order_id).exists():
            # A server set up anew counts from 1 again, and the order's own directory may bear the very same mark.
            _logger.info("leftovers_wait directory=%s because=%s", directory, "an order of this number is held")
            return
        try:
            if _is_torn(directory / "card.json"):
                # Its mark says more, where it left any.
                _logger.error("card_torn order_id=%s directory=%s", order_id, directory)
                self._spool.drop_aside(directory)
                self._is_search_due = True
                return
            (directory / "exit.json").unlink(missing_ok=True)
            process = self._executor.remove_leftovers(directory)
        except (NodeBusyError, OSError) as error:
            _logger.info("leftovers_wait directory=%s because=%s", directory, error)
            return
        self._cleaning.add(directory)

        def take_end() -> None:
            self._end(process)
            self._cleaning.discard(directory)
            ended = read_json(directory / "exit.json")
            log_removed(order_id, ended)
            if ended and ended["leftovers"]:
                _logger.warning("files_left order_id=%s paths=%s", order_id, shown(ended["leftovers"]))
            elif ended:
                self._spool.drop_aside(directory)
            self._search_if_due()

        self._loop.watch(process.pidfd, take_end)

    def _search_if_due(self) -> None:
        # What is being removed would be seen by its mark, and be forgotten before that is asked about.
        if not self._may_search or not self._is_search_due or self._search is not None or self._cleaning:
            return
        if not self._is_idle():
            return
        try:
            process = self._search = self._executor.look_for_strays()
        except (NodeBusyError, OSError) as error:
            _logger.info("strays_wait because=%s", error)
            return
        self._is_search_due = False
        self._loop.watch(process.pidfd, lambda: self._take_strays(process))

    def _take_strays(self, process: RunnerProcess) -> None:
        self._end(process)
        self._search = None
        if not self._is_search_due:
            self._take_found()
        self.clean()

    def _take_found(self) -> None:
        strays, problems = read_found(self._spool.strays)
        for problem in problems:
            _logger.warning("strays_unknown because=%s", problem)
        by_order = attrgetter("order_id", "fence", "name")
        for (order_id, fence, _), of_order in groupby(sorted(strays, key=by_order), by_order):
            # Asked after the marks were read: an order is on this disk before its mark is on a target.
            if not self._spool.knows(order_id, fence):
                self._set_aside(order_id, list(of_order))

    def _set_aside(self, order_id: int, strays: Sequence[Stray]) -> None:
        paths = shown([stray.path for stray in strays])
        if any(stray.is_used for stray in strays):
            _logger.warning("stray_in_use order_id=%d paths=%s", order_id, paths)
            return
        _logger.warning("stray_found order_id=%d paths=%s", order_id, paths)
        try:
            self._executor.set_aside(strays)
        except OSError:
            _logger.exception("stray_not_kept order_id=%d", order_id)  # a full disk; found again at the next start

    def _end(self, process: RunnerProcess) -> None:
        self._loop.ignore(process.pidfd)
        process.close()


def _is_torn(card: Path) -> bool:
    """Whether nobody can read it; that of another version, which this one may not understand, is not torn."""
    try:
        return not isinstance(read_json(card), dict)
    except ValueError:
        return True

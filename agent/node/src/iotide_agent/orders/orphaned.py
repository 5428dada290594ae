"""Removal of orphaned directories: retried until done, and found by their marks if the order is lost."""

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
from iotide_agent.runner.orphans import Orphan, read_found

_MAX_LOGGED: Final = 4000
_logger = logging.getLogger(__name__)


def log_removed(order_id: object, ended: Mapping[str, Any] | None) -> None:
    removed = ended.get("removed") if ended else None
    if removed:
        _logger.info("removed order_id=%s paths=%s", order_id, shown(removed))


def shown(paths: Sequence[str]) -> str:
    text = " ".join(paths)
    return text if len(text) <= _MAX_LOGGED else f"{text[:_MAX_LOGGED]}... ({len(paths)} in all)"


class Leftovers:
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
        return bool(self._cleaning) or self._search is not None

    def allow_search(self) -> None:
        """Search once when the node is idle, and again after a torn card."""
        self._may_search = True

    def clean(self) -> None:
        """Retry failed removals. One that hangs is not started again."""
        if self._search is not None or not self._is_idle():
            return  # continues after the search, or when the node is idle
        for directory in self._spool.leftovers():
            if directory not in self._cleaning:
                self._clean(directory)
        self._search_if_due()

    def stop_search(self) -> None:
        """End a search, so that it does not disturb a measurement; it starts again when the node is idle."""
        if self._search is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._search.pidfd, signal.SIGKILL)
            self._is_search_due = True

    def _clean(self, directory: Path) -> None:
        order_id = directory.name.partition("-")[0]
        if (self._spool.held / order_id).exists():
            # A new server counts from 1 again, so that the order's own directory may have the same mark.
            _logger.info("leftovers_wait directory=%s because=%s", directory, "an order of this number is held")
            return
        try:
            if _is_torn(directory / "card.json"):
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
        # A directory in removal would be found by its mark, and its order forgotten before the check.
        if not self._may_search or not self._is_search_due or self._search is not None or self._cleaning:
            return
        if not self._is_idle():
            return
        try:
            process = self._search = self._executor.look_for_orphans()
        except (NodeBusyError, OSError) as error:
            _logger.info("orphans_wait because=%s", error)
            return
        self._is_search_due = False
        self._loop.watch(process.pidfd, lambda: self._take_orphans(process))

    def _take_orphans(self, process: RunnerProcess) -> None:
        self._end(process)
        self._search = None
        if not self._is_search_due:
            self._take_found()
        self.clean()

    def _take_found(self) -> None:
        orphans, problems = read_found(self._spool.orphans)
        for problem in problems:
            _logger.warning("orphans_unknown because=%s", problem)
        by_order = attrgetter("order_id", "fence", "name")
        for (order_id, fence, _), of_order in groupby(sorted(orphans, key=by_order), by_order):
            # Checked after the marks were read: an order is on this disk before its mark is on a target.
            if not self._spool.knows(order_id, fence):
                self._set_aside(order_id, list(of_order))

    def _set_aside(self, order_id: int, orphans: Sequence[Orphan]) -> None:
        paths = shown([orphan.path for orphan in orphans])
        if any(orphan.is_used for orphan in orphans):
            _logger.warning("orphan_in_use order_id=%d paths=%s", order_id, paths)
            return
        _logger.warning("orphan_found order_id=%d paths=%s", order_id, paths)
        try:
            self._executor.set_aside(orphans)
        except OSError:
            _logger.exception("orphan_not_kept order_id=%d", order_id)  # full disk; found again at the next start

    def _end(self, process: RunnerProcess) -> None:
        self._loop.ignore(process.pidfd)
        process.close()


def _is_torn(card: Path) -> bool:
    """A card of another agent version is not torn."""
    try:
        return not isinstance(read_json(card), dict)
    except ValueError:
        return True

"""Search for unkillable loads that occupy the node although no order runs there.

It uses the node's lock and the records of ended orders, so a restarted agent finds them again.
"""

import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import Final

from iotide_agent.core.spool import Spool
from iotide_agent.runner import processes
from iotide_agent.runner.processes import Stat
from iotide_wire.messages import MOST_STUCK, StuckLoad

_ORDER: Final = rb"/(?:orders|leftovers)/([0-9]{1,18})(?![0-9])"


class StuckLoads:
    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._order = re.compile(re.escape(str(spool.state_directory.resolve()).encode()) + _ORDER)
        self._since: dict[tuple[int, int], datetime] = {}

    def look(self) -> tuple[StuckLoad, ...] | None:
        """Return the loads by order, or None if unknown. Call it only while no order loads the node."""
        try:
            holders = self._spool.node_holders()
            left = {stat.pid: (order_id, stat) for order_id, stat in self._spool.unkilled()}
        except OSError:
            return None
        if holders is None and not left:
            self._since.clear()
            return ()
        by_order: defaultdict[int | None, list[Stat]] = defaultdict(list)
        for order_id, stat in left.values():
            by_order[order_id or None].append(stat)
        for stat in holders or ():
            if stat.pid not in left:
                by_order[self._order_of(stat.pid)].append(stat)
        now = datetime.now(UTC)
        named = {(stat.pid, stat.start_ticks) for stats in by_order.values() for stat in stats}
        self._since = {key: self._since.get(key, now) for key in named}
        loads = [self._load(order_id, stats) for order_id, stats in by_order.items()]
        return tuple(loads[:MOST_STUCK]) or None

    def _load(self, order_id: int | None, stats: list[Stat]) -> StuckLoad:
        (first,) = processes.stuck(stats[:1])
        return StuckLoad(
            order_id=order_id,
            process=first.name[:64] or "?",
            pid=first.pid,
            state=first.state,
            waits_in=first.wait_channel[:100],
            processes=len(stats),
            since=min(self._since[stat.pid, stat.start_ticks] for stat in stats),
        )

    def _order_of(self, pid: int) -> int | None:
        """All processes of a load keep its order's lock open."""
        for name in processes.open_names(pid):
            if (match := self._order.match(name)) is not None and int(match[1]) > 0:
                return int(match[1])
        return None

"""How much a node may report: bounds that hold whatever its agent says, each a setting (`IOTIDE_REPORT_...`)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Self

from iotide_server.kit.app_values import AppValue
from iotide_wire.units import GIB, KIB, MIB

REPORT_LIMITS: Final[AppValue["ReportLimits"]] = AppValue("report_limits")

LONGEST_LABEL_VALUE: Final = 200  # characters of a label's value; it stands in legends, tables and addresses
_MOST_DAYS: Final = 7  # no node keeps its order under way so that its curves grow for ever


@dataclass(frozen=True, slots=True)
class ReportLimits:
    """Bounds on what the agent of a node reports; `docs/isolation.md` has the table."""

    samples: int = 30_000  # numbers of a result
    series: int = 20_000  # distinct metrics with labels and target in a result
    labels: int = 16  # labels of a number
    label_values: int = 10_000  # distinct values of one label in a result
    counters: int = 1_000  # counters of which an order has curves
    # stored rows of up to 600 values of an order, for each day since it was offered, a week at most
    curve_pieces: int = 50_000
    raw_bytes: int = GIB  # raw output of an order, also after its end
    raw_bytes_a_day: int = 20 * GIB  # raw output, curves and results of a node in a day (UTC)
    new_series_a_day: int = 500_000  # series that results of a node begin in a day (UTC)
    flag_bytes: int = 128 * KIB  # flags of a result and its checks without an answer, as JSON
    step_bytes: int = 2 * MIB  # steps of a result, as JSON
    fact_bytes: int = 128 * KIB  # facts of a result and what others used of the node, as JSON
    log_lines: int = 100  # lines of one kind in a run's log that reports of an order may cause
    hellos_a_minute: int = 6  # announcements of a node's agent to one process of the API; twice as many at once

    def of_order(self, offered_at: datetime, now: datetime) -> Self:
        """Return the limits by now of an order that was offered then: a run of some days has more curves."""
        return replace(self, curve_pieces=self.curve_pieces * min(_MOST_DAYS, 1 + max(0, (now - offered_at).days)))


DEFAULTS: Final = ReportLimits()

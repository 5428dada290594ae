"""Limits of a node's reports, each a setting (`IOTIDE_REPORT_...`)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Self

from iotide_server.kit.app_values import AppValue
from iotide_wire.units import GIB, KIB, MIB

REPORT_LIMITS: Final[AppValue["ReportLimits"]] = AppValue("report_limits")

LONGEST_LABEL_VALUE: Final = 200  # characters, as shown in legends, tables and addresses
_MOST_DAYS: Final = 7  # so that an active order cannot raise its limit forever


@dataclass(frozen=True, slots=True)
class ReportLimits:
    """Limits of a node's reports; see `docs/isolation.md`."""

    samples: int = 30_000
    series: int = 20_000  # metrics with labels and target
    labels: int = 16
    label_values: int = 10_000
    counters: int = 1_000
    # rows of up to 600 values of an order, per day since its offer, at most a week
    curve_pieces: int = 50_000
    raw_bytes: int = GIB  # of an order
    raw_bytes_a_day: int = 20 * GIB  # raw output, curves and results of a node per UTC day
    new_series_a_day: int = 500_000  # of a node, by UTC day
    flag_bytes: int = 128 * KIB  # with unanswered checks, as JSON
    step_bytes: int = 2 * MIB
    fact_bytes: int = 128 * KIB  # with other load, as JSON
    log_lines: int = 100
    hellos_a_minute: int = 6  # of an agent per API process; bursts of twice as many

    def of_order(self, offered_at: datetime, now: datetime) -> Self:
        return replace(self, curve_pieces=self.curve_pieces * min(_MOST_DAYS, 1 + max(0, (now - offered_at).days)))


DEFAULTS: Final = ReportLimits()

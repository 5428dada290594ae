"""Orders that this node does not begin."""

from datetime import datetime

from iotide_agent.orders.parsing import Verdict
from iotide_wire.messages import Outcome


class DeclinedError(Exception):
    def __init__(
        self, code: str, reason: str, outcome: Outcome = Outcome.DECLINED, not_before: datetime | None = None
    ) -> None:
        super().__init__(reason)
        self.verdict = Verdict(outcome, code, reason, not_before=not_before)

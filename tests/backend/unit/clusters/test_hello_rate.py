"""Rate of each node's hellos."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.clusters.agents.rules import HelloRate
from iotide_server.kit.errors import IotideError

NODE: Final = Principal(PrincipalKind.NODE, 1, "node1")
NOON: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_a_clock_that_was_set_back_delays_a_node_by_one_share() -> None:
    rate = HelloRate(a_minute=6)
    for _ in range(12):
        rate.admit(NODE, NOON)
    yesterday = NOON - timedelta(days=1)
    with pytest.raises(IotideError, match="node1"):
        rate.admit(NODE, yesterday)
    rate.admit(NODE, yesterday + timedelta(seconds=10))

from collections.abc import Iterator

import pytest
from agent.gateway_double import GatewayDouble

from iotide_wire.nodes import BrokerAccess


@pytest.fixture
def gateway() -> Iterator[GatewayDouble]:
    double = GatewayDouble(BrokerAccess(url="redis://127.0.0.1:1/0", queue="node-1", ca_pem=None), 1)
    double.start()
    yield double
    double.close()

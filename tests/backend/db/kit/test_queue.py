import json

import pytest
from factories.broker import BrokerView

from iotide_server.kit.queue import Broker, BrokerAwayError


def test_a_wake_up_holds_only_ids_and_is_never_too_old(broker: Broker, in_redis: BrokerView) -> None:
    broker.send_wake("node.7", 12, 2**63 - 1)
    raw = in_redis.redis.lindex("node.7", 0)
    assert isinstance(raw, bytes)
    message = json.loads(raw)
    assert message["content-type"] == "application/json"
    headers = message["headers"]
    assert (headers["task"], headers["expires"], headers["eta"]) == ("iotide.wake", None, None)
    assert in_redis.take("node.7") == [[12, 2**63 - 1]]


def test_work_is_named_on_the_servers_own_queue(broker: Broker, in_redis: BrokerView) -> None:
    broker.send_work("points", [5, 7])
    assert in_redis.take("server") == [["points", 5, 7]]


def test_an_unavailable_redis_is_reported_at_once() -> None:
    with pytest.raises(BrokerAwayError):
        Broker("redis://127.0.0.1:1/0").send_wake("node.7", 12, 1)


def test_sending_goes_on_over_a_new_connection_when_the_old_one_broke(broker: Broker, in_redis: BrokerView) -> None:
    broker.send_wake("node.7", 1, 1)
    in_redis.redis.client_kill_filter(_type="normal", skipme=True)
    try:
        broker.send_wake("node.7", 2, 1)
    except BrokerAwayError:
        broker.send_wake("node.7", 2, 1)
    assert in_redis.take("node.7") == [[1, 1], [2, 1]]

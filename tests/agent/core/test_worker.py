"""Celery worker settings. Each prevents a way in which Celery loses or duplicates messages."""

from pathlib import Path

import pytest
from celery import Celery

from iotide_agent.core.spool import Offer, Spool
from iotide_agent.core.worker import TASK_NAME, celery_app
from iotide_agent.node.identity import Identity
from iotide_wire.nodes import BrokerAccess


def app(tmp_path: Path, url: str = "redis://127.0.0.1:1/0", ca_pem: str | None = None) -> tuple[Celery, Spool]:
    broker = BrokerAccess(url=url, queue="node.7", ca_pem=ca_pem)
    identity = Identity(
        server_url="http://127.0.0.1:1", node_id=7, node_name="n", node_token="t", broker=broker, ca_pem=None
    )
    spool = Spool(tmp_path)
    spool.prepare()
    return celery_app(identity, spool), spool


def test_messages_are_acknowledged_early_and_never_fetched_ahead(tmp_path: Path) -> None:
    settings = app(tmp_path)[0].conf
    assert settings.task_acks_late is False
    assert settings.worker_prefetch_multiplier == 1
    assert settings.worker_disable_prefetch is True
    assert settings.task_ignore_result is True
    assert settings.accept_content == ["json"]
    assert settings.worker_enable_remote_control is False
    assert settings.worker_cancel_long_running_tasks_on_connection_loss is False


def test_a_connection_that_died_silently_is_noticed(tmp_path: Path) -> None:
    options = app(tmp_path)[0].conf.broker_transport_options
    assert (options["socket_timeout"], options["health_check_interval"]) == (5, 5)
    assert (options["socket_connect_timeout"], options["socket_keepalive"]) == (3, True)


def test_unacknowledged_messages_are_kept_under_the_nodes_own_keys(tmp_path: Path) -> None:
    options = app(tmp_path)[0].conf.broker_transport_options
    names = ("unacked_key", "unacked_index_key", "unacked_mutex_key")
    assert [options[name] for name in names] == ["unacked.7", "unacked_index.7", "unacked_mutex.7"]


def test_tls_believes_the_given_authority_alone(tmp_path: Path) -> None:
    settings = app(tmp_path, "rediss://127.0.0.1:1/0", "PEM")[0].conf.broker_use_ssl
    assert Path(settings["ssl_ca_certs"]).read_text() == "PEM"
    assert settings["ssl_cert_reqs"].name == "CERT_REQUIRED"


def test_the_broker_is_reached_where_the_node_says_with_the_servers_credentials(tmp_path: Path) -> None:
    broker = BrokerAccess(url="rediss://iotide-node-7:secret@bench:8472/0", queue="node.7", ca_pem=None)
    identity = Identity(
        server_url="https://bench", node_id=7, node_name="n", node_token="t", broker=broker, ca_pem=None
    )
    moved = celery_app(identity, Spool(tmp_path), "redis:6379")
    assert moved.conf.broker_url == "rediss://iotide-node-7:secret@redis:6379/0"
    assert celery_app(identity, Spool(tmp_path)).conf.broker_url == broker.url


def test_the_one_task_keeps_an_offer(tmp_path: Path) -> None:
    worker, spool = app(tmp_path)
    worker.tasks[TASK_NAME](3, 30)
    assert spool.offers() == [Offer(3, 30)]


@pytest.mark.parametrize("arguments", [("3", 30), (3, None), (0, 30), (3, 2**63), (True, 1), (3.0, 30), ("../x", 1)])
def test_anything_but_two_numbers_is_nobodys_offer(tmp_path: Path, arguments: tuple[object, object]) -> None:
    worker, spool = app(tmp_path)
    worker.tasks[TASK_NAME](*arguments)
    assert spool.offers() == []

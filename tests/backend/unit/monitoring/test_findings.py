"""Each finding of the doctor, from generated facts; `db/monitoring` tests its readers on real parts."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from iotide_server.bundled.acl import NodeAccess, node_username
from iotide_server.clusters.views import AgentStanding, NodeClockOutput, NodeState, node_clock
from iotide_server.kit.migrations import SchemaState, judge
from iotide_server.monitoring.doctor.database import DatabaseFacts, judge_database
from iotide_server.monitoring.doctor.examination import judge_backup, judge_reading
from iotide_server.monitoring.doctor.findings import CheckState, Finding, in_lines, wrong
from iotide_server.monitoring.doctor.machine import (
    EXPIRES_SOON,
    Front,
    Room,
    is_loopback,
    judge_addresses,
    judge_front,
    judge_room,
)
from iotide_server.monitoring.doctor.nodes import SPOOL_LIMIT_BYTES, NodeFacts, judge_nodes
from iotide_server.monitoring.doctor.redis import RedisFacts, RedisUser, judge_redis
from iotide_server.monitoring.doctor.server import ServiceFacts, judge_service
from iotide_wire.units import GIB

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
POSTGRES = {
    "max_connections": "100",
    "superuser_reserved_connections": "3",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}
DATABASE = DatabaseFacts(150_018, POSTGRES, 20, timedelta(), judge("0039", ("0039", "0032")))
REDIS_SETTINGS = {
    "appendonly": "yes",
    "save": "",
    "maxmemory": "536870912",
    "maxmemory-policy": "noeviction",
    "maxclients": "10000",
}
NODES = [NodeAccess(number, f"{number:064x}") for number in (1, 2)]
OURS = [
    RedisUser("default", is_enabled=False, is_open=True, reaches_keys=True),
    RedisUser("iotide-server", is_enabled=True, is_open=False, reaches_keys=True),
    *(
        RedisUser(
            node_username(node.node_id),
            is_enabled=True,
            is_open=False,
            reaches_keys=True,
            digests=frozenset({node.password_sha256}),
        )
        for node in NODES
    ),
]
REDIS = RedisFacts((7, 0), REDIS_SETTINGS, OURS, frozenset({"iotide-server", "iotide-admin"}), 0, 4 * 1024**2)
NODE = NodeFacts(
    "blade/n1", NodeState.ONLINE, "0.1.0", AgentStanding.CURRENT, None, node_clock(0.002, 0.0004), spool_bytes=4096
)
SERVICE = ServiceFacts(
    is_scheduled=True,
    work_late=timedelta(seconds=2),
    failures=[],
    overdue_runs=0,
    sealed=[("mail", True)],
    administrators=1,
    endless_tokens=0,
)


def troubles(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return what is not fine, by check; check that each finding has a remedy."""
    found = [finding for finding in findings if finding.standing is not CheckState.FINE]
    assert all(finding.remedy for finding in found)
    return {finding.check: finding for finding in found}


def of_database(**changes: object) -> dict[str, Finding]:
    return troubles(judge_database(replace(DATABASE, **changes)))  # type: ignore[arg-type]  # any of its fields


def of_redis(**changes: object) -> dict[str, Finding]:
    return troubles(judge_redis(replace(REDIS, **changes), NODES))  # type: ignore[arg-type]  # any of its fields


def of_service(**changes: object) -> dict[str, Finding]:
    return troubles(judge_service(replace(SERVICE, **changes)))  # type: ignore[arg-type]  # any of its fields


def of_a_node(**changes: object) -> dict[str, Finding]:
    return troubles(judge_nodes([NODE, replace(NODE, **changes)], "0.1.0"))  # type: ignore[arg-type]  # any of its fields


def test_a_healthy_installation_has_no_findings() -> None:
    assert of_database() == of_redis() == of_service() == of_a_node() == {}


@pytest.mark.parametrize(
    ("changes", "check", "standing", "words"),
    [
        ({"version": 140_012}, "database", CheckState.WRONG, "PostgreSQL 14"),
        (
            {"settings": POSTGRES | {"max_connections": "25"}},
            "database_connections",
            CheckState.WRONG,
            "22 connections; four API processes",
        ),
        ({"connections": 90}, "database_connections", CheckState.WARNING, "90 of 97"),
        ({"settings": POSTGRES | {"fsync": "off"}}, "database_durability", CheckState.WRONG, "fsync is off"),
        (
            {"settings": POSTGRES | {"synchronous_commit": "off"}},
            "database_durability",
            CheckState.WARNING,
            "synchronous_commit",
        ),
        ({"clock_offset": timedelta(seconds=-90)}, "database_clock", CheckState.WRONG, "90 s behind"),
    ],
)
def test_findings_of_the_database(changes: dict[str, object], check: str, standing: CheckState, words: str) -> None:
    found = of_database(**changes)
    assert set(found) == {check}
    assert found[check].standing is standing
    assert words in found[check].sentence


@pytest.mark.parametrize(
    ("found_revision", "standing", "remedy"),
    [
        ("0032", CheckState.WRONG, "iotide-server migrate"),
        (None, CheckState.WRONG, "iotide-server migrate"),
        ("0099", CheckState.WARNING, "release"),
    ],
)
def test_findings_of_the_schema(found_revision: str | None, standing: CheckState, remedy: str) -> None:
    schema: SchemaState = judge(found_revision, ("0039", "0032"))
    finding = of_database(schema=schema)["schema"]
    assert finding.standing is standing
    assert remedy in (finding.remedy or "")


@pytest.mark.parametrize(
    ("changes", "check", "standing", "words"),
    [
        ({"version": (6, 0)}, "redis", CheckState.WRONG, "Redis 6.0"),
        ({"settings": None}, "redis_settings", CheckState.WARNING, "does not show"),
        ({"users": None}, "redis_users", CheckState.WRONG, "administer"),
        (
            {"settings": REDIS_SETTINGS | {"appendonly": "no"}},
            "redis_persistence",
            CheckState.WARNING,
            "loses wake-ups",
        ),
        (
            {"settings": REDIS_SETTINGS | {"maxmemory": "100", "maxmemory-policy": "allkeys-lru"}},
            "redis_memory",
            CheckState.WRONG,
            "allkeys-lru",
        ),
        ({"settings": REDIS_SETTINGS | {"maxmemory": "0"}}, "redis_memory", CheckState.WARNING, "unlimited"),
        ({"kept_bytes": 300 * 1024**2}, "redis_memory", CheckState.WARNING, "300 MiB"),
        ({"settings": REDIS_SETTINGS | {"maxclients": "55"}}, "redis_clients", CheckState.WRONG, "2 nodes"),
        ({"users": OURS[:-1]}, "redis_node_users", CheckState.WRONG, "without a user: iotide-node-2"),
        ({"queue_length": 5000}, "redis_queue", CheckState.WARNING, "5000 messages"),
    ],
)
def test_findings_of_redis(changes: dict[str, object], check: str, standing: CheckState, words: str) -> None:
    found = of_redis(**changes)
    assert set(found) == {check}
    assert found[check].standing is standing
    assert words in found[check].sentence


def user(name: str, *, is_open: bool = False, reaches_keys: bool = True) -> RedisUser:
    return RedisUser(name, is_enabled=True, is_open=is_open, reaches_keys=reaches_keys)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (user("default", is_open=True), {"redis_default_user": CheckState.WRONG}),
        (user("default"), {"redis_default_user": CheckState.WARNING}),
        (user("iotide-node-9"), {"redis_node_users": CheckState.WRONG}),
        (user("someone"), {"redis_foreign_users": CheckState.WARNING}),
        (user("health", is_open=True, reaches_keys=False), {}),
    ],
)
def test_findings_of_unexpected_users(added: RedisUser, expected: dict[str, CheckState]) -> None:
    kept = [one for one in OURS if one.name != added.name]
    found = of_redis(users=[*kept, added])
    assert {check: finding.standing for check, finding in found.items()} == expected


def test_a_node_with_another_password_in_redis_is_rejected() -> None:
    strange = replace(OURS[-1], digests=frozenset({"f" * 64}))
    assert set(of_redis(users=[*OURS[:-1], strange])) == {"redis_node_users"}


@pytest.mark.parametrize(
    ("changes", "check", "standing", "words"),
    [
        ({"work_late": None}, "worker", CheckState.NOTE, "not checked"),
        ({"work_late": timedelta(seconds=90)}, "worker", CheckState.WRONG, "90 s"),
        ({"failures": ["analysis 7: ValueError: x"]}, "work_failing", CheckState.WARNING, "analysis 7"),
        ({"overdue_runs": 2}, "runs_overdue", CheckState.WARNING, "2 active runs"),
        ({"sealed": [("mail", None)]}, "vault", CheckState.WRONG, "is not set, but these channels have secrets: mail"),
        ({"sealed": [("mail", True), ("chat", False)]}, "vault", CheckState.WRONG, "channels: chat"),
        ({"administrators": 0}, "administrators", CheckState.WRONG, "no user is an admin"),
        ({"endless_tokens": 3}, "api_tokens", CheckState.WARNING, "3 API tokens"),
    ],
)
def test_findings_of_the_service(changes: dict[str, object], check: str, standing: CheckState, words: str) -> None:
    found = of_service(**changes)
    assert set(found) == {check}
    assert found[check].standing is standing
    assert words in found[check].sentence


def test_a_worker_without_a_scheduler_is_not_reported_as_fine() -> None:
    found = of_service(is_scheduled=False)
    assert {check: finding.standing for check, finding in found.items()} == {
        "scheduler": CheckState.WRONG,
        "worker": CheckState.NOTE,
    }


@pytest.mark.parametrize(
    ("changes", "check", "standing", "words"),
    [
        ({"state": NodeState.SILENT}, "agents", CheckState.WARNING, "1 of 2 nodes"),
        ({"problem": "no answer"}, "node_problems", CheckState.WARNING, "blade/n1: no answer"),
        ({"version": "0.0.9"}, "agent_versions", CheckState.WARNING, "blade/n1 (0.0.9)"),
        (
            {"version": "0.0.1", "agent": AgentStanding.TOO_OLD},
            "agents_shut_out",
            CheckState.WRONG,
            "are not compatible with this server: blade/n1 (0.0.1)",
        ),
        ({"spool_bytes": SPOOL_LIMIT_BYTES}, "spools", CheckState.WARNING, "blade/n1"),
        (
            {"clock": node_clock(-90.25, 0.001)},
            "node_clocks",
            CheckState.WARNING,
            "blade/n1 (90.3 s behind, within 1 ms",
        ),
        ({"clock": node_clock(2, 0.5)}, "node_clocks", CheckState.WARNING, "blade/n1 (2 s ahead, within 500 ms)"),
    ],
)
def test_findings_of_the_nodes(changes: dict[str, object], check: str, standing: CheckState, words: str) -> None:
    found = of_a_node(**changes)
    assert set(found) == {check}
    assert found[check].standing is standing
    assert words in found[check].sentence


@pytest.mark.parametrize("clock", [None, node_clock(2, 1.5)])
def test_an_unmeasured_or_possibly_right_clock_is_no_fault(clock: NodeClockOutput | None) -> None:
    assert of_a_node(clock=clock) == {}


@pytest.mark.parametrize("nodes", [[], [replace(NODE, clock=None)], [replace(NODE, state=NodeState.SILENT)]])
def test_clocks_that_no_node_reports_are_not_checked_instead_of_fine(nodes: list[NodeFacts]) -> None:
    found = {finding.check: finding for finding in judge_nodes(nodes, "0.1.0")}
    assert found["node_clocks"].standing is CheckState.NOTE
    assert found["node_clocks"].sentence.startswith("not checked: ")


def test_without_nodes_none_is_reported_silent() -> None:
    found = {finding.check: finding for finding in judge_nodes([], "0.1.0")}
    assert found["agents"].standing is CheckState.NOTE
    assert found["agents"].sentence == "not checked: there are no nodes"


def test_the_old_clock_report_of_a_silent_node_is_ignored() -> None:
    assert set(of_a_node(state=NodeState.SILENT, clock=node_clock(90, 0.001))) == {"agents"}


@pytest.mark.parametrize(
    ("age", "standing", "words"),
    [
        (timedelta(hours=30), CheckState.FINE, "30 h old"),
        (timedelta(days=7), CheckState.FINE, "7 days old"),
        (timedelta(days=40), CheckState.WARNING, "40 days old"),
        (None, CheckState.NOTE, "backups by other tools are not recorded"),
    ],
)
def test_findings_of_the_newest_backup(age: timedelta | None, standing: CheckState, words: str) -> None:
    finding = judge_backup(None if age is None else NOW - age, NOW)
    assert finding.standing is standing
    assert words in finding.sentence


def test_public_reading_is_reported_and_no_fault() -> None:
    assert judge_reading(is_public=True).standing is CheckState.NOTE
    assert judge_reading(is_public=False).standing is CheckState.FINE


def test_some_of_a_thousand_silent_nodes_are_named_and_the_others_counted() -> None:
    nodes = [replace(NODE, name=f"blade/n{number}", state=NodeState.SILENT) for number in range(1000)]
    assert troubles(judge_nodes(nodes, "0.1.0"))["agents"].sentence.endswith("blade/n4 and 995 more")


@pytest.mark.parametrize(
    ("front", "standing"),
    [
        (Front(), CheckState.FINE),
        (Front(expires_at=NOW + EXPIRES_SOON * 2), CheckState.FINE),
        (Front(expires_at=NOW + timedelta(days=3)), CheckState.WARNING),
        (Front(silence="Connection refused"), CheckState.WARNING),
        (Front(distrust="Hostname mismatch"), CheckState.WRONG),
    ],
)
def test_findings_of_the_public_url(front: Front, standing: CheckState) -> None:
    finding = judge_front("https://iotide.example", front, NOW)
    assert finding.standing is standing
    assert bool(finding.remedy) == (standing is not CheckState.FINE)


@pytest.mark.parametrize(
    ("public", "broker", "metrics", "expected"),
    [
        ("http://127.0.0.1:8470", "redis://[::1]:6379/0", "127.0.0.1", set()),
        ("https://iotide.example", "rediss://iotide.example:8472/0", None, set()),
        ("http://iotide.example", "rediss://iotide.example:8472/0", None, {"public_url_tls"}),
        ("https://iotide.example", "redis://10.1.0.2:6379/0", None, {"broker_tls"}),
        ("https://iotide.example", "rediss://iotide.example:8472/0", "0.0.0.0", {"metrics_listen"}),  # noqa: S104
    ],
)
def test_findings_of_addresses_that_are_reachable_without_tls(
    public: str, broker: str, metrics: str | None, expected: set[str]
) -> None:
    assert set(troubles(judge_addresses(public, broker, metrics))) == expected


@pytest.mark.parametrize(
    ("free", "standing"), [(50, CheckState.FINE), (8, CheckState.WARNING), (2, CheckState.WRONG), (0, CheckState.WRONG)]
)
def test_findings_of_free_disk_space(free: int, standing: CheckState) -> None:
    assert judge_room(Room(Path("/var/lib/iotide"), 100 * GIB, free * GIB)).standing is standing


@pytest.mark.parametrize(
    ("host", "is_ours"), [("127.0.0.2", True), ("::1", True), ("localhost", True), ("redis", False)]
)
def test_which_hosts_are_this_machine(host: str, *, is_ours: bool) -> None:
    assert is_loopback(host) is is_ours


def test_a_person_reads_a_line_and_its_remedy() -> None:
    assert in_lines([wrong("redis", "it is away", "start it")]) == "wrong   redis: it is away\n        remedy: start it"

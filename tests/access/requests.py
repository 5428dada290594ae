"""A valid request for each route of the API, about objects of the one cluster."""

from access.rules import NOT_ALLOWED, Ids, Ownership, Request

from iotide_server.main import API

_DRAIN = {"reason": "its disk is replaced"}
_DIGEST = "0" * 64
_LISTED = Request(Ownership.UNOWNED)
_SHOWN = Request(Ownership.CLUSTERS)
_OWN = Request(Ownership.UNOWNED, shows=False)


def _plan(_: Ids) -> dict[str, object]:
    return {
        "name": "alpha-plan",
        "cluster": "alpha",
        "nodes": ["alpha-n1"],
        "targets": ["alpha-scratch"],
        "workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}],
    }


def _schedule(ids: Ids) -> dict[str, object]:
    return {"name": "alpha-other", "plan": _plan(ids), "cron": "30 2 * * *", "time_zone": "Europe/Zurich"}


def _channel(_: Ids) -> dict[str, object]:
    receiver = {"kind": "email", "host": "mail", "sender": "a@example.org", "recipients": ["b@example.org"]}
    return {"name": "alpha-other", "receiver": receiver}


def _rule(_: Ids) -> dict[str, object]:
    return {"name": "alpha-other", "cluster": "alpha-measured"}


def _said(ids: Ids) -> dict[str, object]:
    return {"fence": ids["fence"], "agent_instance": ids["instance"], "boot_id": "boot-1234"}


def _result(ids: Ids) -> dict[str, object]:
    empty: dict[str, object] = {name: [] for name in ("steps", "samples", "flags", "artefacts", "curves")}
    return {
        "fence": ids["fence"],
        "agent_instance": ids["instance"],
        "digest": _DIGEST,
        "outcome": "failed",
        "reason_code": "because",
        "reason": "as in the table",
        "started_at": None,
        "ended_at": "2026-11-21T10:00:00Z",
        "environment": {},
        **empty,
    }


def _hello(ids: Ids) -> dict[str, object]:
    return {
        "agent_instance": ids["instance"],
        "previous_instance": ids["instance"],
        "boot_id": "boot-1234",
        "agent_version": "1",
        "wire_version": 1,
        "sent_at": "2026-11-21T10:00:00Z",
        "facts": {},
        "mounts": [],
        "approved_directories": [],
        "workloads": [],
        "holds": [],
    }


def _heartbeat(ids: Ids) -> dict[str, object]:
    return {"agent_instance": ids["instance"], "boot_id": "boot-1234", "sent_at": "2026-11-21T10:00:00Z", "orders": []}


def _batch(ids: Ids) -> dict[str, object]:
    return {
        "agent_instance": ids["instance"],
        "system": "slurm",
        "problem": None,
        "jobs": [],
        "hosts": [],
        "refused": [],
    }


def _waiting(ids: Ids) -> dict[str, object]:
    return {"pending_ids": [ids["pending_id"]]}


def _reading(ids: Ids) -> dict[str, object]:
    orders = [{"order_id": ids["read_order_id"], "samples": [], "flags": []}]
    return {"workload_revision": 1, "parser_version": "2", "orders": orders}


def _measured(parameter: str) -> dict[str, str]:
    return {parameter: f"measured_{parameter}"}


_ACCOUNTS = {
    "GET /health": _OWN,
    "GET /ready": _OWN,
    "POST /session/link": Request(Ownership.UNOWNED, lambda ids: {"token": ids["link"]}),
    "POST /session": Request(
        Ownership.UNOWNED, lambda _: {"name": "nobody-of-that-name", "password": "guessed"}, answer=401
    ),
    "GET /session": _OWN,
    "DELETE /session": Request(Ownership.UNOWNED),
    "PUT /session/password": Request(
        Ownership.UNOWNED, lambda _: {"old_password": None, "new_password": "correct horse battery"}, by_person=True
    ),
    "GET /tokens": _OWN,
    "POST /tokens": Request(Ownership.UNOWNED, lambda _: {"name": "mine", "scopes": ["read"]}, by_person=True),
    "POST /tokens/login": Request(
        Ownership.UNOWNED,
        lambda _: {"name": "mine", "scopes": ["read"], "secret_sha256": _DIGEST, "asked_at": "2026-11-21T10:00:00Z"},
        by_person=True,
    ),
    "DELETE /tokens/{token_id}": Request(
        Ownership.A_PERSONS, names={"token_id": "api_token_id"}, by_person=True, owner="operator", or_admins=True
    ),
    "GET /users": Request(Ownership.ALL_CLUSTERS),
    "POST /users": Request(Ownership.ALL_CLUSTERS, lambda _: {"name": "grace", "roles": []}),
    "PUT /users/{user_id}": Request(Ownership.ALL_CLUSTERS, lambda _: {"roles": [], "disabled": True}),
    "POST /users/{user_id}/link": Request(Ownership.ALL_CLUSTERS, by_person=True),
    "GET /audit": _LISTED,
    "GET /audit/export": _LISTED,
    "GET /alive": _OWN,
    "GET /session/ways": _OWN,
    "GET /session/provider": Request(Ownership.UNOWNED, answer=404),
    "GET /session/provider/callback": Request(Ownership.UNOWNED, answer=404),
    "GET /sessions": Request(Ownership.UNOWNED, by_person=True, shows=False),
    "DELETE /sessions": Request(Ownership.UNOWNED, by_person=True),
    "DELETE /sessions/{session_id}": Request(Ownership.A_PERSONS, by_person=True, owner="operator"),
    "DELETE /users/{user_id}/sessions": Request(Ownership.ALL_CLUSTERS),
    "POST /users/{user_id}/password-reset": Request(Ownership.ALL_CLUSTERS, by_person=True),
}
_CLUSTERS = {
    "GET /clusters": _LISTED,
    "POST /clusters": Request(Ownership.ALL_CLUSTERS, lambda _: {"name": "gamma"}),
    "GET /clusters/{cluster_id}": _SHOWN,
    "PATCH /clusters/{cluster_id}": Request(body=lambda _: {"description": "d"}),
    "GET /clusters/{cluster_id}/blackouts": _SHOWN,
    "POST /clusters/{cluster_id}/blackouts": Request(
        body=lambda _: {"starts_at": "2998-01-01T00:00:00Z", "ends_at": "2998-01-02T00:00:00Z", "reason": "firmware"}
    ),
    "DELETE /blackouts/{blackout_id}": _SHOWN,
    "GET /clusters/{cluster_id}/join-tokens": _SHOWN,
    "POST /clusters/{cluster_id}/join-tokens": Request(body=lambda _: {}),
    "DELETE /join-tokens/{token_id}": _SHOWN,
    "GET /nodes": _LISTED,
    "GET /clusters/{cluster_id}/nodes": _SHOWN,
    "GET /nodes/{node_id}": _SHOWN,
    "PATCH /nodes/{node_id}": Request(body=lambda _: {"slots": 2}),
    "DELETE /nodes/{node_id}": Request(names={"node_id": "idle_node_id"}),
    "POST /nodes/{node_id}/rotate": _SHOWN,
    "POST /nodes/{node_id}/join-token": Request(body=lambda _: {}),
    "GET /nodes/{node_id}/revocation": _SHOWN,
    "POST /nodes/{node_id}/revoke": _SHOWN,
    "GET /clusters/{cluster_id}/pending-nodes": _SHOWN,
    "POST /clusters/{cluster_id}/pending-nodes/approve": Request(body=_waiting),
    "POST /clusters/{cluster_id}/pending-nodes/refuse": Request(body=_waiting),
    "GET /drains": _LISTED,
    "PUT /drain": Request(Ownership.ALL_CLUSTERS, lambda _: _DRAIN),
    "DELETE /drain": Request(Ownership.ALL_CLUSTERS),
    "PUT /clusters/{cluster_id}/drain": Request(body=lambda _: _DRAIN),
    "DELETE /clusters/{cluster_id}/drain": _SHOWN,
    "PUT /nodes/{node_id}/drain": Request(body=lambda _: _DRAIN),
    "DELETE /nodes/{node_id}/drain": _SHOWN,
    "GET /nodes/{node_id}/dead": Request(answer=409),
    "POST /nodes/{node_id}/dead": Request(body=lambda _: {"statement_sha256": _DIGEST}, answer=409),
    "GET /nodes/{node_id}/stuck": Request(answer=409),
    "POST /nodes/{node_id}/stuck": Request(body=lambda _: {"statement_sha256": _DIGEST}, answer=409),
    "GET /clusters/{cluster_id}/queue": _SHOWN,
    "GET /clusters/{cluster_id}/candidates": _SHOWN,
    "GET /clusters/{cluster_id}/peers": _SHOWN,
    "GET /published-sources": _OWN,
    "GET /board": _LISTED,
    "GET /board/throughput": _LISTED,
    "GET /board/series": _LISTED,
    "GET /events": Request(Ownership.UNOWNED, shows=False, streams=True),
}
_TARGETS = {
    "GET /targets": _LISTED,
    "POST /targets": Request(
        body=lambda ids: {
            "cluster_id": ids["cluster_id"],
            "name": "alpha-more",
            "path": "/ost",
            "scope": "node",
            "nodes": [ids["idle_node_id"]],
        }
    ),
    "GET /targets/{target_id}": _SHOWN,
    "GET /targets/{target_id}/facts": _SHOWN,
    "GET /targets/{target_id}/advice": _SHOWN,
    "PATCH /targets/{target_id}": Request(body=lambda _: {"reserve_bytes": 1}),
    "DELETE /targets/{target_id}": Request(names={"target_id": "idle_target_id"}),
    "PUT /targets/{target_id}/backed-by": Request(body=lambda _: {"targets": []}),
    "PUT /targets/{target_id}/drain": Request(body=lambda _: _DRAIN),
    "DELETE /targets/{target_id}/drain": _SHOWN,
    "GET /workloads": _OWN,
    "GET /scratch-sets": _LISTED,
    "GET /stripes": Request(Ownership.UNOWNED, query="layout=raid5:4x64K", shows=False),
    "POST /scratch-sets/{set_id}/enable": Request(
        body=lambda ids: {
            "name": "alpha-bays",
            "disks_sha256": ids["disks_sha256"],
            "target_name": "alpha-n1-bays",
        },
        by_person=True,
    ),
    "POST /scratch-sets/{set_id}/disable": _SHOWN,
}
_CAMPAIGNS = {
    "GET /campaigns": _LISTED,
    "GET /campaign-groups": _LISTED,
    "GET /campaign-headlines": Request(Ownership.UNOWNED, query="campaign_id={measured_campaign_id}", shows=False),
    "POST /campaigns": Request(body=_plan),
    "POST /campaigns/preview": Request(body=_plan),
    "GET /campaigns/{campaign_id}": _SHOWN,
    "PATCH /campaigns/{campaign_id}": Request(body=lambda _: {"priority": 7}),
    "GET /campaigns/{campaign_id}/timeline": _SHOWN,
    "POST /campaigns/{campaign_id}/repeats": Request(body=lambda _: {"repeats": 1}),
    "GET /campaigns/{campaign_id}/pause": Request(answer=409),
    "POST /campaigns/{campaign_id}/pause/look": Request(answer=409),
    "POST /campaigns/{campaign_id}/confirm": Request(body=lambda _: {"found_sha256": _DIGEST}, answer=409),
    "POST /campaigns/{campaign_id}/cancel": _SHOWN,
    "GET /campaigns/{campaign_id}/cells": _SHOWN,
    "GET /campaigns/{campaign_id}/conduct": _SHOWN,
    "GET /campaigns/{campaign_id}/measures": _SHOWN,
    "GET /campaigns/{campaign_id}/measurements": Request(query="metric=write_rate"),
    "GET /campaigns/{campaign_id}/samples.csv": _SHOWN,
    # The application of the table has no Chromium.
    "GET /campaigns/{campaign_id}/report.pdf": Request(answer=409, shows=False),
    "GET /campaigns/{campaign_id}/advice": _SHOWN,
    "GET /runs": _LISTED,
    "GET /runs/{run_id}": _SHOWN,
    "GET /runs/{run_id}/events": _SHOWN,
    "GET /runs/{run_id}/curves": _SHOWN,
    "GET /runs/{run_id}/counters": _SHOWN,
    "GET /runs/{run_id}/artefacts": _SHOWN,
    "POST /runs/{run_id}/cancel": _SHOWN,
    "POST /runs/{run_id}/retry": Request(answer=409),
    "POST /runs/{run_id}/readings": Request(body=_reading, names=_measured("run_id")),
    "GET /readings/{reading_id}": _SHOWN,
    "GET /artefacts/{artefact_id}": _SHOWN,
}
_PLANS = {
    "GET /schedules": _LISTED,
    "POST /schedules": Request(body=_schedule),
    "POST /schedules/preview": Request(Ownership.UNOWNED, lambda _: {"cron": "30 2 * * *", "time_zone": "UTC"}),
    "GET /schedules/{schedule_id}": _SHOWN,
    "PUT /schedules/{schedule_id}": Request(body=_schedule),
    "DELETE /schedules/{schedule_id}": _SHOWN,
    "GET /schedules/{schedule_id}/firings": _SHOWN,
    "POST /schedules/{schedule_id}/pause": _SHOWN,
    "POST /schedules/{schedule_id}/resume": _SHOWN,
    "POST /schedules/{schedule_id}/run": _SHOWN,
    "POST /schedules/{schedule_id}/duplicate": _SHOWN,
    "GET /templates": _LISTED,
    "POST /templates": Request(body=lambda ids: {"name": "alpha-other", "plan": _plan(ids)}),
    "GET /templates/{template_id}": _SHOWN,
    "PATCH /templates/{template_id}": Request(body=lambda _: {"name": "alpha-renamed"}),
    "DELETE /templates/{template_id}": _SHOWN,
}
_FINDINGS = {
    "GET /series": _LISTED,
    "GET /series/{series_id}": _SHOWN,
    "GET /series/{series_id}/points": _SHOWN,
    "GET /series/{series_id}/analysis": _SHOWN,
    "GET /samples": Request(Ownership.UNOWNED, shows=False),
    "GET /points": Request(query="series_id={series_id}"),
    "GET /surface-sources": Request(Ownership.UNOWNED, shows=False),
    "GET /surface": Request(query="a=run-{measured_run_id}", answer=422),
    "GET /changes": _LISTED,
    "GET /trend-events": _LISTED,
    "POST /trend-events": Request(body=lambda _: {"cluster": "alpha", "text": "RAID rebuilt"}),
    "DELETE /trend-events/{event_id}": _SHOWN,
    "GET /comparison": Request(query="a={measured_campaign_id}&b={other_campaign_id}", answer=422),
    "GET /comparison/report.pdf": Request(query="cell={cell_id}&cell={other_cell_id}", answer=409, shows=False),
    "GET /comparison/sides": Request(query="cell={cell_id}&cell={other_cell_id}"),
    "GET /alerts": _LISTED,
    "GET /alerts/{alert_id}": _SHOWN,
    "POST /alerts/{alert_id}/actions": Request(body=lambda _: {"action": "comment", "comment": "seen"}),
    "PUT /alerts/{alert_id}/mute": Request(body=lambda _: {"until": "2999-01-01T00:00:00Z"}),
    "GET /incidents": _LISTED,
    "GET /incidents/{incident_id}": _SHOWN,
    "POST /incidents/{incident_id}/actions": Request(body=lambda _: {"action": "comment", "comment": "seen"}),
    "GET /alert-rules": _LISTED,
    "POST /alert-rules": Request(body=_rule),
    "GET /alert-rules/{rule_id}": _SHOWN,
    "PUT /alert-rules/{rule_id}": Request(body=_rule),
    "DELETE /alert-rules/{rule_id}": _SHOWN,
    "GET /explorer/runs": _LISTED,
    "GET /explorer/count": _OWN,
    "GET /explorer/search": Request(Ownership.UNOWNED, query="text=alpha"),
    "GET /explorer/sparklines": Request(Ownership.UNOWNED, query="series_id={series_id}", shows=False),
    "GET /explorer/views": _OWN,
    "POST /explorer/views": Request(Ownership.UNOWNED, lambda _: {"name": "another", "query": ""}, by_operating=True),
    "PUT /explorer/views/{view_id}": Request(
        Ownership.A_PERSONS, lambda _: {"name": "renamed", "query": ""}, owner="operator", by_operating=True
    ),
    "DELETE /explorer/views/{view_id}": Request(Ownership.A_PERSONS, owner="operator", by_operating=True),
}
_EVENTS = {
    "GET /channels": _LISTED,
    "POST /channels": Request(body=lambda ids: {**_channel(ids), "cluster_id": ids["cluster_id"]}),
    "GET /channels/{channel_id}": _SHOWN,
    "PUT /channels/{channel_id}": Request(body=_channel),
    "DELETE /channels/{channel_id}": _SHOWN,
    "GET /channels/{channel_id}/deliveries": _SHOWN,
    "POST /channels/{channel_id}/test": _SHOWN,
}
_AGENTS = {
    "POST /agent/enroll": Request(
        Ownership.UNOWNED,
        lambda _: {
            "join_token": "ioj_invented-and-long-enough.-",
            "node_name": "n9",
            "role": "compute",
            "agent_version": "1",
            "wire_version": 1,
        },
        answer=401,
    ),
    "POST /agent/hello": Request(Ownership.UNOWNED, _hello, to_pending=NOT_ALLOWED),
    "POST /agent/beat": Request(Ownership.UNOWNED, _heartbeat),
    "POST /agent/batch": Request(Ownership.UNOWNED, _batch, answer=409),
    "GET /agent/standing": _OWN,
    "POST /agent/rotation": Request(Ownership.UNOWNED, lambda ids: {"agent_instance": ids["instance"]}, answer=409),
    "POST /agent/rotation/confirm": Request(Ownership.UNOWNED),
    "POST /agent/orders/{order_id}/claim": Request(Ownership.ORDERS_NODE, _said),
    "PUT /agent/orders/{order_id}/artefacts/{name}": Request(
        Ownership.ORDERS_NODE,
        lambda _: b"raw output",
        query="sha256={artefact_sha256}",
        headers=lambda ids: {"X-Iotide-Fence": str(ids["fence"])},
    ),
    "POST /agent/orders/{order_id}/finish": Request(Ownership.ORDERS_NODE, _result, unanswered="200 and refused"),
}
REQUESTS = {
    f"{name.partition(' ')[0]} {API}{name.partition(' ')[2]}": request
    for part in (_ACCOUNTS, _CLUSTERS, _TARGETS, _CAMPAIGNS, _PLANS, _FINDINGS, _EVENTS, _AGENTS)
    for name, request in part.items()
} | {
    "GET /metrics": Request(Ownership.ALL_CLUSTERS),
    "GET /agent/{name}": Request(Ownership.UNOWNED, names={"name": "agent_file"}, shows=False),
}
"""By method and path."""

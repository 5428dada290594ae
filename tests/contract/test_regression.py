"""A regression over the API, from a step on a schedule to the new baseline, with Redis emptied twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from bring_up import wait_for
from levelled_site import LevelledSite, found_site
from local_stack import LocalStack
from redis import Redis
from standardwebhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CLUSTER = "regression"
# With two slow and the three confirmation runs one fewer than a change needs, so that it stays a suspicion until the
# next firing, whichever metric was analysed first.
FAST_FIRINGS = 8
MOST_SLOW_POINTS = 12


@dataclass
class Received:
    """Receiver of webhooks: headers and body of each POST."""

    url: str
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiver() -> Iterator[Received]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.posts.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received = Received(f"http://127.0.0.1:{server.server_port}/hook")
        Thread(target=server.serve_forever, daemon=True).start()
        yield received
        server.shutdown()


def empty_redis(site: LevelledSite) -> None:
    with Redis.from_url(site.stack.settings["IOTIDE_REDIS_ADMIN_URL"]) as redis:
        redis.flushall()


@pytest.fixture
def site(stack: LocalStack) -> LevelledSite:
    return found_site(stack, CLUSTER)


def make_rule(site: LevelledSite, metric: str, channel_id: int) -> int:
    body = {"name": f"{metric}-worse", "cluster": CLUSTER, "metric": metric, "channel_ids": [channel_id]}
    rule_id: int = site.stack.post("/alert-rules", body)["id"]
    return rule_id


def suspect(site: LevelledSite) -> dict[str, Any] | None:
    found = site.alerts("rate", "suspect")
    return found[0] if found and found[0]["confirmation_id"] else None


def confirmed(site: LevelledSite, points: int) -> tuple[dict[str, Any], dict[str, Any]] | tuple[()] | None:
    """Return the alerts of both metrics; empty if this many analysed points gave none; None before that."""
    rates, waits = site.alerts("rate", "untriaged"), site.alerts("wait", "untriaged")
    if rates and waits:
        return rates[0], waits[0]
    listed = site.stack.get("/series", cluster_id=site.cluster_id)["items"]
    ids = [one["id"] for one in listed if one["metric"] in {"rate", "wait"}]
    is_analysed = all((site.stack.get(f"/series/{one}/analysis")["n"] or 0) >= points for one in ids)
    return () if is_analysed else None


@pytest.mark.timeout(300)
def test_a_regression_is_found_confirmed_notified_evaluated_and_accepted(site: LevelledSite) -> None:
    with receiver() as received:
        receiver_of = {"kind": "webhook", "url": received.url, "secret": SECRET}
        channel = {"name": "ops", "cluster_id": site.cluster_id, "receiver": receiver_of}
        channel_id = site.stack.post("/channels", channel)["id"]
        make_rule(site, "rate", channel_id)
        other_rule = make_rule(site, "wait", channel_id)
        site.level.write_text("1000")
        site.fire(FAST_FIRINGS)
        event = {"cluster": CLUSTER, "text": "kernel 6.1.0-30 -> 6.1.0-35"}
        event_id = site.stack.post("/trend-events", event)["id"]
        site.level.write_text("800")

        site.fire(2)
        empty_redis(site)  # between ingest and analysis
        suspected = wait_for("the suspect", lambda: suspect(site))
        confirmation = site.stack.wait_campaign(suspected["confirmation_id"])
        assert confirmation["name"].startswith("confirm-")
        assert confirmation["plan"]["note"].startswith("Confirms alert ")
        assert confirmation["counts"]["finished"] == 3

        points, found = FAST_FIRINGS + 5, None
        while not found:
            found = wait_for("the analysis", lambda: confirmed(site, points), seconds=90)  # noqa: B023 - called at once
            if not found:
                assert points < FAST_FIRINGS + MOST_SLOW_POINTS
                points += 1
                site.fire()
        empty_redis(site)  # between alert and webhook
        alert, other = found
        assert alert["id"] == suspected["id"]
        assert (alert["direction"], alert["change"]["confirmed_at"] is not None) == ("worse", True)

        wait_for("the webhook", lambda: received.posts or None, seconds=120)
        ((headers, body),) = received.posts
        message = Webhook(SECRET).verify(body, headers)
        assert {one["id"] for one in message["data"]["alerts"]} <= {alert["id"], other["id"]}
        assert message["type"] == "alert"

        def act(action: str, **details: object) -> dict[str, Any]:
            done = site.stack.post(f"/alerts/{alert['id']}/actions", {"action": action, **details})
            moved: dict[str, Any] = done["alert"]
            return moved

        assert act("acknowledge", comment="looking")["owner"] is not None
        assert act("expect", event_id=event_id)["event"]["text"] == event["text"]
        accepted = act("accept_baseline")
        assert (accepted["state"], accepted["baseline_at"] is not None) == ("expected", True)
        assert site.stack.api.delete(f"/alert-rules/{other_rule}").json() == {"closed_alerts": 1}
        closed = site.stack.get(f"/alerts/{other['id']}")["alert"]
        assert (closed["state"], closed["closed_because"]) == ("closed", "rule_removed")
        deliveries = site.stack.get(f"/channels/{channel_id}/deliveries")["items"]
        assert [one["state"] for one in deliveries] == ["delivered"]
        assert len(received.posts) == 1

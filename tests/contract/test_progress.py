"""Progress of a run as a browser receives it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from rig import FIO_SMALL, Rig

LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 4}
STREAM_SECONDS = 40.0


@contextmanager
def change_feed(rig: Rig, topics: str, after: str | None = None) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """Return the change feed as (event id, data)."""
    headers = {"Last-Event-ID": after} if after else {}
    query = {"topics": topics}
    with rig.stack.api.stream("GET", "/events", params=query, headers=headers, timeout=STREAM_SECONDS) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        yield changes(response)


def changes(response: httpx2.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(":")
        if line and name:
            fields[name] = value.removeprefix(" ")
        elif not line and fields.get("event") == "change":
            yield fields["id"], json.loads(fields["data"])
            fields = {}
        elif not line:
            fields = {}


def test_progress_grows_in_the_stream_until_the_run_has_ended(rig: Rig) -> None:
    seen: list[float] = []
    with change_feed(rig, "run") as stream:
        run_id = rig.submit_one("fio", LOAD)
        for _, change in stream:
            if (change["kind"], change["id"]) != ("run", run_id):
                continue
            run = rig.run(run_id)
            if run["progress"] is not None:
                seen.append(run["progress"])
            if run["state"] == "finished":
                break
            assert run["state"] in {"waiting", "active"}
    between = [progress for progress in seen if 0 < progress < 1]
    assert seen == sorted(seen)
    assert len(set(between)) >= 2
    assert seen[-1] == 1


def test_the_stream_resumes_where_it_broke_off(rig: Rig) -> None:
    with change_feed(rig, "campaign,run") as stream:
        first = rig.submit("dd", {"file_size_bytes": 4096, "block_size_bytes": 4096})
        last_seen, _ = next(stream)
    missed = rig.submit("dd", {"file_size_bytes": 4096, "block_size_bytes": 4096})
    for campaign_id in (first, missed):
        rig.stack.wait_campaign(campaign_id)
    with change_feed(rig, "campaign,run", after=last_seen) as stream:
        update = next(change for _, change in stream if (change["kind"], change["id"]) == ("campaign", missed))
    assert update["cluster_id"] == rig.cluster_id


def test_a_stream_that_is_too_far_behind_is_reset(rig: Rig) -> None:
    with rig.stack.api.stream(
        "GET", "/events", params={"topics": "run"}, headers={"Last-Event-ID": "0"}, timeout=STREAM_SECONDS
    ) as response:
        lines = response.iter_lines()
        assert "event: reset" in (line for line in lines)

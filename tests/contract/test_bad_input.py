"""Invalid plans against the catalogue of a real agent: each gets a clear error and changes nothing."""

from typing import Any

import pytest
from rig import Rig

SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
MANY = [512 * number for number in range(1, 1001)]


def with_options(**options: object) -> dict[str, Any]:
    return {"workloads": [{"workload": "dd", "options": {**SMALL, **options}}]}


def with_sweep(**sweep: object) -> dict[str, Any]:
    return {"workloads": [{"workload": "dd", "options": {}, "sweep": sweep}]}


BAD_PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown workload": ({"workloads": [{"workload": "iozoom", "options": {}}]}, "iozoom"),
    "unknown option": (with_options(blocksize=4096), "blocksize"),
    "unknown node": ({"nodes": ["node-9"]}, "node-9"),
    "unknown target": ({"targets": ["nfs9"]}, "nfs9"),
    "unknown cluster": ({"cluster": "nowhere"}, "nowhere"),
    "unknown unit": (with_options(file_size_bytes="64 parsecs"), "64 parsecs"),
    "ambiguous unit": (with_options(file_size_bytes="64M"), "64M"),
    "size 0": (with_options(file_size_bytes=0), "0"),
    "negative size": (with_options(file_size_bytes=-4096), "-4096"),
    "larger than the space": (with_options(file_size_bytes="500 TiB"), "550 TiB"),
    "more than 100,000 runs": (with_sweep(file_size_bytes=MANY) | {"repeats": 1000}, "1000000"),
    "no repeats": ({"repeats": 0}, "0"),
    "the same node twice": ({"nodes": ["node-1", "node-1"]}, "node-1"),
    "unknown field": ({"repeat": 3}, "repeat"),
    "a name that is a path": ({"name": "../etc"}, "../etc"),
}


@pytest.mark.parametrize("case", BAD_PLANS)
@pytest.mark.parametrize("path", ["/campaigns", "/campaigns/preview"])
def test_a_bad_plan_is_refused_with_field_value_and_remedy(rig: Rig, case: str, path: str) -> None:
    change, offending = BAD_PLANS[case]
    campaigns_before = rig.stack.get("/campaigns", limit=1)["items"]
    response = rig.stack.api.post(path, json={**rig.plan("dd", SMALL), **change})
    error = response.json()["error"]
    assert 400 <= response.status_code < 500
    assert error["code"]
    assert error["field"]
    assert error["remedy"]
    text = f"{error['field']} {error['value']} {error['message']}".replace(",", "")
    assert offending in text
    assert rig.stack.get("/campaigns", limit=1)["items"] == campaigns_before


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (b'{"name": ', "application/json", 422),
        (b'{"name": "\xff"}', "application/json", 422),
        (b"[]", "application/json", 422),
        (b"name: a plan in YAML", "application/yaml", 415),
        (b'{"name": "x"}', "text/plain", 415),
        (b'{"name": "' + b"x" * (2 * 1024**2) + b'"}', "application/json", 413),
    ],
    ids=["cut off", "not UTF-8", "no object", "YAML", "plain text", "too large"],
)
def test_a_body_that_is_no_plan_is_refused(rig: Rig, content: bytes, content_type: str, status: int) -> None:
    headers = {"Content-Type": content_type}
    response = rig.stack.api.post("/campaigns", content=content, headers=headers)
    assert response.status_code == status
    assert response.json()["error"]["remedy"]


def test_the_same_key_makes_one_campaign_and_refuses_another_body(rig: Rig) -> None:
    plan = rig.plan("dd", SMALL)
    headers = {"Idempotency-Key": f"key-of-{plan['name']}"}
    first = rig.stack.api.post("/campaigns", json=plan, headers=headers)
    again = rig.stack.api.post("/campaigns", json=plan, headers=headers)
    other = rig.stack.api.post("/campaigns", json={**plan, "repeats": 2}, headers=headers)
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert again.json()["id"] == first.json()["id"]
    assert other.json()["error"]["code"] == "idempotency_key_reused"
    rig.stack.wait_campaign(first.json()["id"])

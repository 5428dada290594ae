"""Submits a campaign, waits for its end and prints its samples as CSV; needs only httpx2.

    IOTIDE_URL=http://127.0.0.1:8470 IOTIDE_TOKEN=iot_... python submit_and_wait.py plan.json > samples.csv

Exits with 0 if every run finished, 1 if one did not, 2 if the server rejected the plan.
"""

import json
import os
import sys
import time
import uuid
from pathlib import Path

import httpx2


def main() -> int:
    plan = json.loads(Path(sys.argv[1]).read_text())
    base_url = f"{os.environ['IOTIDE_URL']}/api/v1"
    headers = {"Authorization": f"Bearer {os.environ['IOTIDE_TOKEN']}"}
    with httpx2.Client(base_url=base_url, headers=headers, timeout=30) as api:
        # With this key it is safe to repeat the request if its answer is lost.
        answer = api.post("/campaigns", json=plan, headers={"Idempotency-Key": str(uuid.uuid4())})
        if answer.is_error:
            error = answer.json()["error"]
            print(f"{error['field']}: {error['message']}; remedy: {error['remedy']}", file=sys.stderr)
            return 2
        state = wait_for_end(api, answer.json()["id"])
        print(api.get(f"/campaigns/{answer.json()['id']}/samples.csv").raise_for_status().text, end="")
    return 0 if state == "finished" else 1


def wait_for_end(api: httpx2.Client, campaign_id: int) -> str:
    """Return the final state of the campaign."""
    while True:
        campaign = api.get(f"/campaigns/{campaign_id}").raise_for_status().json()
        print(f"campaign {campaign_id} is {campaign['state']}, {campaign['progress']:.0%} done", file=sys.stderr)
        if campaign["state"] not in {"waiting", "active"}:
            return str(campaign["state"])
        time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())

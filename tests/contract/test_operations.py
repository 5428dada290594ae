"""Monitoring of a whole iotide at work: metrics, dashboard, alert rules, logs and the doctor.

One scenario creates every kind of secret. Each log is then searched for all of them.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
import yaml
from bring_up import free_port, wait_for
from factories.metrics import OPENMETRICS, Scraped
from local_stack import BIN, Agent, Launch, LocalStack
from rig import running_stack

ROOT: Final = Path(__file__).parents[2]
NODE: Final = "n1"
PASSWORD: Final = "correct horse battery staple"
WEBHOOK_SECRET: Final = "whsec_" + "c2VjcmV0LW9mLXRoaXMtc3RvcnktYWxvbmU="
_METRIC: Final = re.compile(r"\b(?:iotide|process)_[a-z_]+\b")
_OF_ALERTS: Final = {"iotide_agent_worker_deaf_restarts_total"}


@dataclass
class Story:
    stack: LocalStack
    metrics_port: int
    agent: Agent
    textfile: Path
    run: dict[str, Any]
    secrets: dict[str, str] = field(default_factory=dict)

    def scrape(self, part: int) -> Scraped:
        """Read the metrics of one part: 0 is the API, 1 the scheduler, 2 the worker."""
        url = f"http://127.0.0.1:{self.metrics_port + part}/metrics"
        answer = httpx2.get(url, headers={"Accept": OPENMETRICS}, trust_env=False, timeout=30)
        return Scraped(answer.text, answer.headers["content-type"])

    @property
    def logs(self) -> dict[str, str]:
        """Return all logs by name, without the terminal output of `up`."""
        server = {path.stem: path.read_text() for path in (self.stack.directory / "server/log").glob("*.log")}
        return {**server, "agent": self.agent.log}

    def doctor(self) -> tuple[int, list[dict[str, Any]]]:
        """Return the doctor's status and findings."""
        argv = [str(BIN / "iotide-server"), "doctor", "--json", "--state", str(self.stack.directory / "server")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        assert done.stdout, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return done.returncode, found


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    port = free_port(in_a_row=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOTIDE_LOG_FORMAT", "json")
        patch.setenv("IOTIDE_METRICS_LISTEN", f"127.0.0.1:{port}")
        with running_stack() as stack:
            yield run_story(stack, port)


def run_story(stack: LocalStack, port: int) -> Story:
    cluster_id = stack.add_cluster("blade")
    target, textfile = stack.directory / "scratch", stack.directory / "iotide.prom"
    launch = Launch(configuration=f'metrics_textfile = "{textfile}"\n')
    agent = stack.add_agent(cluster_id, NODE, [target], launch=launch)
    stack.add_target(cluster_id, "scratch", target, [agent.node_id])
    secrets = other_secrets(stack, cluster_id) | secrets_of_services(stack, agent)
    plan = {"name": "story", "cluster": "blade", "nodes": [NODE], "targets": ["scratch"], "repeats": 1}
    options = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
    campaign = stack.post("/campaigns", {**plan, "workloads": [{"workload": "dd", "options": options}]})
    ended = stack.wait_campaign(campaign["id"])
    assert ended["state"] == "finished", ended
    (run,) = stack.get("/runs", campaign_id=campaign["id"])["items"]
    # Refused requests are logged, and are where a secret leaks most easily.
    for path in ("/session", "/session/link"):
        stack.api.post(path, json={"name": "ada", "password": "wrong " + PASSWORD, "token": "wrong"})
    httpx2.get(f"{stack.url}/api/v1/users", headers={"Authorization": "Bearer iot_" + "w" * 43}, trust_env=False)
    return Story(stack, port, agent, textfile, run, secrets)


def other_secrets(stack: LocalStack, cluster_id: int) -> dict[str, str]:
    """Return secrets from the API: of a user, of a pending node and of a channel."""
    link = stack.admin_link()
    join = stack.post(f"/clusters/{cluster_id}/join-tokens", {})
    channel = {
        "name": "hook",
        "cluster_id": None,
        "kind": "webhook",
        "settings": {"url": "https://127.0.0.1:9/hook"},
        "secrets": {"secret": WEBHOOK_SECRET},
    }
    stack.api.post("/channels", json=channel)
    return {
        "sign-in link": link.partition("#token=")[2],
        "session": stack.browser_session(),
        "API token": stack.token,
        "join token": join["token"].partition(".")[0],
        "webhook": WEBHOOK_SECRET,
        "password": PASSWORD,
    }


def secrets_of_services(stack: LocalStack, agent: Agent) -> dict[str, str]:
    """Return secrets that the installation and the agent generated."""
    found = {path.name: path.read_text().strip() for path in (stack.directory / "server/secrets").glob("*")}
    identity = json.loads(next(agent.directory.rglob("identity.json")).read_text())
    password = re.search(r"://[^:]+:([^@]+)@", identity["broker"]["url"])
    assert password
    return found | {"node token": identity["node_token"], "node's Redis password": password[1]}


def test_each_part_serves_metrics(story: Story) -> None:
    api, scheduler, worker = map(story.scrape, range(3))
    assert [each.labels("iotide_build_info")["part"] for each in (api, scheduler, worker)] == [
        *("api", "scheduler", "worker")
    ]
    assert api.value("iotide_results_total", outcome="finished") == 1
    assert api.value("iotide_claims_total", outcome="granted") == 1
    assert api.value("iotide_heartbeats_total") > 0
    assert api.value("iotide_samples_total") > 0
    assert api.value("iotide_scheduler_up") == api.value("iotide_database_up") == api.value("iotide_redis_up") == 1
    assert scheduler.value("iotide_runs_started_total") == 1
    assert scheduler.value("iotide_scheduler_pass_duration_seconds_count") > 0
    assert worker.value("iotide_work_duration_seconds_count", kind="pulse") >= 1


def test_the_agent_s_file_shows_its_state(story: Story) -> None:
    agent = wait_for("the file of an idle agent", lambda: idle(story), seconds=60)
    assert agent.labels("iotide_agent_info")["node"] == NODE
    assert agent.value("iotide_agent_connected") == agent.value("iotide_agent_up") == 1
    assert abs(agent.value("iotide_agent_clock_offset_seconds")) < 1
    assert agent.value("iotide_agent_worker_starts_total") >= 1


def idle(story: Story) -> Scraped | None:
    run_story = Scraped(story.textfile.read_text())
    return run_story if sum(run_story.by("stage", "iotide_agent_orders").values()) == 0 else None


def test_every_metric_of_dashboard_and_alerts_exists(story: Story) -> None:
    run_story = {name for part in range(3) for name in story.scrape(part).announced}
    run_story |= Scraped(story.textfile.read_text()).announced | _OF_ALERTS
    dashboard = json.loads((ROOT / "deploy/grafana/iotide.json").read_text())
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text())
    asked = [query["expr"] for panel in dashboard["panels"] for query in panel.get("targets", ())]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    wanted = {name for expression in asked for name in _METRIC.findall(expression)}
    assert len(wanted) > 40
    assert wanted <= run_story


def lines(log: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.splitlines()]


def test_every_line_of_every_part_is_an_object_with_time_level_and_part(story: Story) -> None:
    wanted = {"event", "time", "part"}
    for name, log in story.logs.items():
        assert lines(log), name
        own = {"level"} if name in {"api", "scheduler", "worker", "agent"} else set()
        short = [line for line in lines(log) if not wanted | own <= line.keys()]
        assert short == [], name


def test_a_run_can_be_followed_through_all_parts_by_its_id(story: Story) -> None:
    run_id = story.run["id"]
    events = {
        (name, line["event"])
        for name in ("api", "scheduler", "agent")
        for line in lines(story.logs[name])
        if line.get("run_id") == run_id
    }
    assert events >= {
        *(("scheduler", "run_offered"), ("agent", "claimed"), ("api", "order_claimed")),
        *(("api", "result_taken"), ("api", "run_moved")),
    }
    submitted = [line for line in lines(story.logs["api"]) if line["event"] == "campaign_submitted"]
    assert submitted[0]["campaign_id"] == story.run["campaign_id"]
    assert submitted[0]["request_id"]


def test_no_secret_of_the_whole_story_is_in_any_log(story: Story) -> None:
    assert len(story.secrets) >= 10
    found = [
        (secret, name)
        for secret, value in story.secrets.items()
        for name, log in story.logs.items()
        if len(value) >= 8 and value in log
    ]
    assert found == []


def test_the_worker_s_health_is_that_of_work_that_goes_all_the_way(story: Story) -> None:
    health = story.stack.get("/health")
    assert (health["status"], health["worker"]) == ("ok", "ok")


def test_the_doctor_finds_nothing_wrong_and_then_a_fault(story: Story) -> None:
    status, findings = story.doctor()
    assert [finding for finding in findings if finding["standing"] == "wrong"] == []
    assert status == 0
    assert len({finding["check"] for finding in findings}) >= 18
    redis = story.stack.settings["IOTIDE_REDIS_ADMIN_URL"]
    cli = ["redis-cli", "--no-auth-warning", "-u", redis, "acl", "setuser", "default", "on", "nopass"]
    assert subprocess.run(cli, capture_output=True, check=False, timeout=20).returncode == 0
    status, findings = story.doctor()
    assert (status, [finding["check"] for finding in findings if finding["standing"] == "wrong"]) == (
        1,
        ["redis_default_user"],
    )

"""Load test: one server with 2,000 agents, 200 samples a second and 20 open pages on two cores, without growth.

One whole server is started as `iotide-server up` does, with a PostgreSQL that waits for its disk. This process plays
all its clients. Agents are really enrolled (`load_agents`); one in twenty has run after run, four nodes to a
campaign. Browsers are in `load_browsers`. Client and server share the machine; the bench reports what each used of
it.

With `--hostile`, hostile traffic (`load_hostile`) runs in the middle half of the time. The only limit on it is the
effect on ordinary requests. Work grows with stored data, so they are compared with those before and after.

Ends with status 1 and a sentence for each exceeded limit. Memory is judged from five minutes on.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from bring_up import StackError
from factories.announced import hello, mount
from factories.ready_cluster import announced
from load_agents import RUN_SECONDS, Samples, SimulatedAgent, bearer, deliver_wakes
from load_browsers import Browser, Lines
from load_calls import Caller, Tally, percentile_ms
from load_hostile import Attack
from load_limits import LEAST_JUDGED_MINUTES, SAMPLES_PER_SECOND, Hostile, Measured, passed_limits
from load_pages import Query, campaign_page, cluster_page, overview, runs_page
from load_parts import PARTS, Look, Parts, cores_of, growth_mb, parts_table
from local_stack import SESSION_COOKIE, LocalStack
from rich.console import Console
from rich.table import Table
from rig import running_stack

from iotide_wire.messages import EnrollReply, EnrollRequest, NodeRole
from iotide_wire.versions import WIRE_VERSION

AGENTS: Final = 2000
MOST_AGENTS: Final = 10_000
MINUTES: Final = 10.0
MOST_MINUTES: Final = 120.0
BROWSERS: Final = 20
BUSY_SHARE: Final = 0.05
LEAST_BUSY: Final = 20
NODES_A_CAMPAIGN: Final = 4
AT_ONCE: Final = 8
"""Concurrent requests during the setup."""
SHORTEST_RUN_SECONDS: Final = RUN_SECONDS[0]
LOOK_SECONDS: Final = 5.0
INGEST: Final = ("artefact", "finish")


@dataclass
class Site:
    """Setup of the bench.

    Attributes:
        busy: the agents that get runs.
    """

    stack: LocalStack
    tally: Tally
    cluster_id: int
    campaign_ids: list[int]
    agents: list[SimulatedAgent]
    busy: list[SimulatedAgent]
    samples: Samples
    lines: Lines = field(default_factory=Lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench load", description=__doc__)
    parser.add_argument("--minutes", type=_between(0.1, MOST_MINUTES), default=MINUTES, help="default: %(default)g")
    parser.add_argument("--agents", type=_between(1, MOST_AGENTS), default=AGENTS, help="default: %(default)g")
    parser.add_argument("--hostile", action="store_true", help="hostile traffic in the middle half of the time")
    asked = parser.parse_args()
    with running_stack() as stack:
        return asyncio.run(measure(stack, round(asked.agents), asked.minutes, is_attacked=asked.hostile))


def _between(least: float, most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: give a number from {least:g} to {most:g}")
        return value

    return number


async def measure(stack: LocalStack, agent_count: int, minutes: float, *, is_attacked: bool = False) -> int:
    """Set up, run for this long, and report."""
    began = time.monotonic()
    site = await set_up(stack, agent_count, minutes)
    browsers = make_browsers(site)
    attack = Attack(stack, site.cluster_id) if is_attacked else None
    _say(f"set up in {time.monotonic() - began:.0f} s; measuring for {minutes:g} min")
    looks: list[Look] = []
    calm, under_attack = Tally(), Tally()
    parts = Parts(stack)
    with going_on(site, browsers) as tasks:
        watching = partial(watch, parts, tasks, site.tally, looks)
        if attack is None:
            await watching(60 * minutes)
        else:
            await watching(15 * minutes)
            calm.add(site.tally.taken())
            _say(f"half of the time with {attack}")
            before = len(looks)
            with attack.going_on() as parts.attackers_pid:
                await watching(45 * minutes)
            parts.attackers_pid = None
            under_attack.add(site.tally.taken())
            print(f"hostile: cores {cores_of(looks[before:])}")
            await watching(60 * minutes)
        calm.add(site.tally.taken())
    hostile = None if attack is None else attacked(calm, under_attack)
    return report(site, browsers, looks, minutes, calm, hostile)


def attacked(calm: Tally, under_attack: Tally) -> Hostile:
    """Compare the requests under attack with the others."""
    for answer in under_attack.refused:
        print(f"under attack: {answer}")
    kinds = calm.seconds.keys() | under_attack.seconds.keys()
    groups = {"heartbeats": ["beat"], "ingest": INGEST, "pages": [kind for kind in kinds if kind.startswith("GET ")]}
    p95_ms = {
        group: (_p95_ms(calm, group_kinds), _p95_ms(under_attack, group_kinds)) for group, group_kinds in groups.items()
    }
    return Hostile(under_attack.requests, under_attack.errors, p95_ms)


def _p95_ms(tally: Tally, kinds: Iterable[str]) -> float:
    return percentile_ms([value for kind in kinds for value in tally.seconds[kind]], 95)


async def set_up(stack: LocalStack, agent_count: int, minutes: float) -> Site:
    """Enrol all agents, let them send hello, and submit campaigns that last."""
    tally, samples = Tally(), Samples(SAMPLES_PER_SECOND)
    cluster_id = stack.add_cluster("load")
    agents = await enrol(stack, tally, samples, cluster_id, agent_count)
    template = hello(mounts=[mount("/scratch")], approved=["/scratch"]).model_copy(
        update={"workloads": tuple(announced(())), "wire_version": WIRE_VERSION}
    )
    await _each(agents, lambda agent: agent.hello(template))
    busy = agents[: max(LEAST_BUSY, round(BUSY_SHARE * agent_count))]
    stack.add_target(cluster_id, "scratch", Path("/scratch"), [agent.node_id for agent in busy])
    campaigns = [
        stack.post(
            "/campaigns",
            {
                "name": f"load-{first}",
                "cluster": "load",
                "nodes": [f"n{number}" for number in range(first, min(first + NODES_A_CAMPAIGN, len(busy) + 1))],
                "targets": ["scratch"],
                "workloads": [{"workload": "iozone", "options": {"file_size_bytes": "64 MiB"}}],
                "repeats": min(1000, round(60 * minutes / SHORTEST_RUN_SECONDS) + 2),
            },
        )
        for first in range(1, len(busy) + 1, NODES_A_CAMPAIGN)
    ]
    return Site(stack, tally, cluster_id, [campaign["id"] for campaign in campaigns], agents, busy, samples)


async def enrol(
    stack: LocalStack, tally: Tally, samples: Samples, cluster_id: int, agent_count: int
) -> list[SimulatedAgent]:
    """Enrol this many nodes, `n1` and up, each with its own token, as `iotide-agent enroll` does."""
    terms = {"uses": agent_count, "expires_in_seconds": 3600, "needs_approval": False}
    join_token = stack.post(f"/clusters/{cluster_id}/join-tokens", terms)["token"]
    console = Caller(stack.port, tally, "")
    made: list[SimulatedAgent] = []
    for number in range(1, agent_count + 1):
        request = EnrollRequest(
            join_token=join_token,
            node_name=f"n{number}",
            role=NodeRole.COMPUTE,
            agent_version="1",
            wire_version=WIRE_VERSION,
        )
        said = request.model_dump_json().encode()
        answer = await console.ask("enroll", "POST", "/api/v1/agent/enroll", said, "Content-Type: application/json\r\n")
        if not answer.is_success:
            raise SystemExit(f"load: node n{number} was not enrolled: {answer.status} {answer.body!r}")
        reply = EnrollReply.model_validate_json(answer.body)
        made.append(
            SimulatedAgent(
                node_id=reply.node_id,
                caller=Caller(stack.port, tally, bearer(reply.node_token)),
                tally=tally,
                samples=samples,
                instance=f"instance-{number}",
                boot_id=f"boot-{number:08}",
                draw=random.Random(number),  # noqa: S311 - no secret
            )
        )
    console.close()
    return made


def make_browsers(site: Site) -> list[Browser]:
    """Return pages that users keep open: half of them the overview, each of its own user."""
    shown: list[list[Query]] = [
        *(overview() for _ in range(BROWSERS // 2)),
        *(campaign_page(site.cluster_id, campaign_id) for campaign_id in site.campaign_ids[: BROWSERS // 5]),
        *(runs_page() for _ in range(BROWSERS // 5)),
    ]
    shown += [cluster_page(site.cluster_id) for _ in range(BROWSERS - len(shown))]
    cookies = sign_in(site.stack, len(shown))
    return [
        Browser(
            site.stack.port,
            site.tally,
            site.lines,
            f"Cookie: {SESSION_COOKIE}={cookie}\r\n",
            queries,
            random.Random(number),  # noqa: S311 - no secret
        )
        for number, (cookie, queries) in enumerate(zip(cookies, shown, strict=True))
    ]


def sign_in(stack: LocalStack, count: int) -> Iterator[str]:
    """Return the session cookies of this many new users."""
    csrf = {"X-Iotide-Csrf": "1"}
    with httpx2.Client(base_url=stack.api.base_url, headers=csrf) as admin:
        admin.cookies.set(SESSION_COOKIE, stack.browser_session())
        for number in range(1, count + 1):
            roles = [{"cluster_id": None, "role": "viewer"}]
            user = admin.post("/users", json={"name": f"person{number}", "roles": roles}).raise_for_status().json()
            link = admin.post(f"/users/{user['id']}/link").raise_for_status().json()["url"]
            with httpx2.Client(base_url=stack.api.base_url, headers=csrf) as browser:
                secret = parse_qs(urlsplit(link).fragment)["token"][0]
                browser.post("/session/link", json={"token": secret}).raise_for_status()
                yield browser.cookies[SESSION_COOKIE]


@contextmanager
def going_on(site: Site, browsers: Sequence[Browser]) -> Iterator[list[asyncio.Task[None]]]:
    """Run all clients until the end of the block."""
    lives = [*(agent.live() for agent in site.agents), *(browser.live() for browser in browsers)]
    redis_url = site.stack.settings["IOTIDE_REDIS_ADMIN_URL"]
    tasks = [asyncio.create_task(life) for life in [*lives, deliver_wakes(redis_url, site.busy)]]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()


async def watch(
    parts: Parts, tasks: Sequence[asyncio.Task[None]], tally: Tally, looks: list[Look], until_seconds: float
) -> None:
    """Sample the parts regularly for this long; errors of the clients' code are raised."""
    tally.is_counting = True
    began = time.monotonic() - (looks[-1].at_seconds if looks else 0.0)
    if not looks:
        looks.append(await asyncio.to_thread(parts.look, 0.0))
    while looks[-1].at_seconds < until_seconds:
        pause = min(LOOK_SECONDS, until_seconds / 50)
        failed, _ = await asyncio.wait(tasks, timeout=pause, return_when=asyncio.FIRST_EXCEPTION)
        for task in failed:
            task.result()
        # In a task of its own, or the clients would wait for it.
        looks.append(await asyncio.to_thread(parts.look, time.monotonic() - began))
    tally.is_counting = False


async def _each(agents: Sequence[SimulatedAgent], act: Callable[[SimulatedAgent], Awaitable[None]]) -> None:
    """Run the calls, several at a time."""
    waiting = iter(agents)

    async def one_after_another() -> None:
        for agent in waiting:
            await act(agent)

    await asyncio.gather(*(one_after_another() for _ in range(AT_ONCE)))


def report(
    site: Site,
    browsers: Sequence[Browser],
    looks: Sequence[Look],
    minutes: float,
    tally: Tally,
    hostile: Hostile | None,
) -> int:
    """Print the tables, each exceeded limit and the last lines; return 1 if a limit is exceeded."""
    seconds = looks[-1].at_seconds
    ingest = [value for kind in INGEST for value in tally.seconds[kind]]
    growths = {name: growth_mb(looks, name, seconds) for name in PARTS}
    # memory released by one part does not offset growth of another
    growth = sum(max(0.0, one) for one in growths.values())
    ended_at = time.monotonic()
    for agent in site.agents:
        agent.end_silence(ended_at)
    found = Measured(
        errors=tally.errors,
        heartbeat_p95_ms=percentile_ms(tally.seconds["beat"], 95),
        ingest_p95_ms=percentile_ms(ingest, 95),
        samples_per_second=site.samples.rate(ended_at),
        growth_mb=growth if minutes >= LEAST_JUDGED_MINUTES else None,
        agents=len(site.agents),
        online=online_nodes(site),
        longest_silence_seconds=max(agent.longest_silence_seconds for agent in site.agents),
        deaf_pages=sum(browser.updates == 0 for browser in browsers),
        hostile=hostile,
    )
    console = Console(width=120)
    console.print(requests_table(tally, seconds if hostile is None else seconds / 2))
    console.print(parts_table(looks, growths))
    for answer in tally.refused:
        print(answer)
    print(
        f"pages: {sum(browser.updates for browser in browsers)} updates received,"
        f" {site.lines.rounds} rounds of requests,"
        f" {site.lines.resumed} streams resumed after their connection broke"
    )
    print(f"beats: longest_silence_s={found.longest_silence_seconds:.1f}")
    passed = passed_limits(found)
    for sentence in passed:
        print(f"limit exceeded: {sentence}", file=sys.stderr)
    if found.growth_mb is None:
        print(f"memory is judged from {LEAST_JUDGED_MINUTES:g} minutes on")
    quantiles = " ".join(f"p{percent}_ms={percentile_ms(ingest, percent):.0f}" for percent in (50, 95, 99))
    print(f"ingest: samples_per_second={found.samples_per_second:.0f} {quantiles}")
    for group, (before, after) in hostile.p95_ms.items() if hostile is not None else ():
        print(f"hostile: {group} p95_ms={after:.0f} p95_without_ms={before:.0f}")
    print(
        f"load: agents={found.agents} requests={tally.requests} errors={found.errors}"
        f" p95_ms={found.heartbeat_p95_ms:.0f} memory_growth_mb={growth:.1f}{_of_attack(hostile)}"
    )
    return 1 if passed else 0


def _of_attack(hostile: Hostile | None) -> str:
    """Return the further keys of the last line; print the table of each group before it."""
    if hostile is None:
        return ""
    _before, after = hostile.p95_ms["heartbeats"]
    rate = hostile.errors / max(1, hostile.requests)
    return (
        f" hostile_requests={hostile.requests} hostile_error_rate={rate:.4f} hostile_p95_ms={after:.0f}"
        f" hostile_slower={hostile.slower:.2f}"
    )


def online_nodes(site: Site) -> int:
    """Return how many nodes the server counts as online; 0 if it does not answer."""
    cursor: str | None = ""
    online: int = 0
    while cursor is not None:
        query = {"cursor": cursor} if cursor else {}
        try:
            page = site.stack.get(f"/clusters/{site.cluster_id}/nodes", limit=500, **query)
        except (httpx2.HTTPError, StackError) as error:
            print(f"the nodes cannot be listed: {error!r}", file=sys.stderr)
            return 0
        online += sum(node["state"] == "online" for node in page["items"])
        cursor = page["next_cursor"]
    return online


def requests_table(tally: Tally, seconds: float) -> Table:
    """Return a row for each kind of request."""
    table = Table("request", "status", title=f"Requests in {seconds:.0f} s")
    for heading in ("number", "a second", "p50 ms", "p95 ms", "p99 ms", "longest ms"):
        table.add_column(heading, justify="right")
    for kind, statuses in sorted(tally.statuses.items()):
        taken, number = tally.seconds[kind], sum(statuses.values())
        shown = " ".join(f"{status or 'none'}:{count}" for status, count in sorted(statuses.items()))
        times = [f"{percentile_ms(taken, percent):.1f}" for percent in (50, 95, 99, 100)]
        table.add_row(kind, shown, str(number), f"{number / seconds:.1f}", *times)
    return table


def _say(words: str) -> None:
    print(f"load: {words}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

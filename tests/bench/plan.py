"""Cost of a campaign of 100,000 cells: its preview, its submission, its pages and its end.

The API answers in this process, on a private PostgreSQL. Four plans are previewed, and the slowest one counts: many
options that change no size, many sizes, many nodes and targets, and options of fio that depend on each other. The
last two targets were measured before. Then the first plan is submitted, shown, processed by the scheduler, judged by
the worker and cancelled; that of fio is submitted under the same limit.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from factories.people import person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from httpx2 import Response
from private_database import private_postgres
from pydantic import SecretStr
from rich.console import Console
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.main import create_app
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs
from iotide_server.settings import Settings
from iotide_server.trends.peers.marks import judge_peers
from iotide_wire.units import KIB

CAMPAIGNS: Final = "/api/v1/campaigns"
NODES: Final = 100
TARGETS: Final = 10
MOST_SECONDS: Final = {
    "preview": 1.0,
    "submit": 10.0,
    "submit_fio": 10.0,
    "queue": 1.0,
    "campaign": 1.0,
    "cancel": 10.0,
}
_FINISHED: Final = text(
    "UPDATE run SET state = 'finished', started_at = created_at, ended_at = created_at + interval '1 s'"
)
_ANALYZE: Final = text("ANALYZE")

_say = Console(stderr=True)


def plans(ready: ReadyCluster) -> dict[str, dict[str, Any]]:
    """Return four plans of 100,000 cells each."""
    one = {"nodes": ["n1"], "targets": ["scratch"], "repeats": 1}
    blocks = [512 * number for number in range(1, 251)]
    sizes = [4 * KIB * number for number in range(1, 1001)]
    options = {"block_size_bytes": blocks, "data": ["zeroes", "random"], "flush": ["none", "fsync"]}
    few = {"block_size_bytes": blocks[:25], "data": ["zeroes", "random"], "writers": [1, 2]}
    return {
        "options": ready.plan(
            **one,
            workloads=[
                _dd({**options, "writers": list(range(1, 65))[:50], "operations": [["write"], ["write", "read"]]})
            ],
        ),
        "sizes": ready.plan(
            **one,
            workloads=[_dd({"file_size_bytes": sizes, "writers": list(range(1, 51)), "data": ["zeroes", "random"]})],
        ),
        "fio": ready.plan(**one, workloads=[_fio()]),
        "nodes": ready.plan(targets=[f"t{number}" for number in range(TARGETS)], repeats=1, workloads=[_dd(few)]),
    }


def _dd(sweep: dict[str, Any]) -> dict[str, Any]:
    fixed = {} if "file_size_bytes" in sweep else {"file_size_bytes": "1 MiB"}
    return {"workload": "dd", "options": fixed, "sweep": sweep}


def _fio() -> dict[str, Any]:
    """Return fio with engines and depths; its schema allows only certain combinations."""
    sweep = {
        "block_size_bytes": [4 * KIB * number for number in range(1, 251)],
        "rw": ["randread", "randwrite"],
        "io_engine": ["libaio", "io_uring"],
        "io_depth": list(range(1, 101)),
    }
    return {"workload": "fio", "options": {"file_size_bytes": "1 MiB"}, "sweep": sweep}


def timed(what: str, ask: Callable[[], Response | None]) -> float:
    """Return the duration in seconds.

    Raises:
        RuntimeError: the API refused it.
    """
    began_at = time.perf_counter()
    answer = ask()
    seconds = time.perf_counter() - began_at
    if answer is not None and answer.status_code >= 400:
        raise RuntimeError(f"{what}: {answer.status_code} {answer.text[:500]}")
    _say.print(f"{what}: {seconds:.2f} s")
    return seconds


def measure(database: Database, client: TestClient, took: dict[str, float]) -> None:
    """Fill in the seconds of each step."""
    with database.transaction() as session:
        ready = ReadyCluster(session, system_clock(), node_count=NODES)
        for number in range(TARGETS):
            ready.add_target(f"t{number}", "shared")
        admin = person(session, "ada", Role.ADMIN, now=system_clock())

    def post(path: str, plan: dict[str, Any] | None = None) -> Response:
        return client.post(f"{CAMPAIGNS}{path}", json=plan, headers=admin.headers)

    def get(path: str) -> Response:
        return client.get(f"/api/v1{path}", headers=admin.headers)

    for target in ("scratch", "t0"):
        earlier = ready.plan(nodes=["n1"], targets=[target], repeats=1, workloads=[_dd({"writers": [1]})])
        timed("an earlier campaign", partial(post, "", earlier))
    with database.transaction() as session:
        session.execute(_FINISHED)
        session.execute(text("DELETE FROM line_place"))
        session.execute(_ANALYZE)
    took["preview"] = 0.0
    for name, plan in plans(ready).items():
        counted = post("/preview", plan).json()
        _say.print(f"{name}: {counted['cell_count']} cells")
        took["preview"] = max(took["preview"], timed(f"preview of {name}", partial(post, "/preview", plan)))
    shown = plans(ready)
    took["submit"] = timed("submit", lambda: post("", shown["options"]))
    with database.transaction() as session:
        campaign_id = session.scalar(text("SELECT max(id) FROM campaign"))
    took["queue"] = timed("queue", lambda: get(f"/clusters/{ready.cluster.id}/queue?limit=200"))
    took["campaign"] = timed("campaign", lambda: get(f"/campaigns/{campaign_id}"))
    took["cells"] = timed("cells", lambda: get(f"/campaigns/{campaign_id}/cells"))
    took["peers"] = timed("peers", lambda: judge(database, int(campaign_id)))
    took["pass"] = timed("pass", lambda: start(database))
    took["run"] = timed("run", lambda: get(f"/runs/{last_run(database)}"))
    took["cancel"] = timed("cancel", lambda: post(f"/{campaign_id}/cancel"))
    took["submit_fio"] = timed("submit of fio", lambda: post("", shown["fio"]))
    timed("cancel of fio", lambda: post(f"/{int(campaign_id) + 1}/cancel"))
    took["submit_nodes"] = timed("submit of nodes", lambda: post("", shown["nodes"]))
    took["queue_nodes"] = timed("queue of nodes", lambda: get(f"/clusters/{ready.cluster.id}/queue?limit=200"))


def judge(database: Database, campaign_id: int) -> None:
    """Have the campaign's peers judged as the worker does."""
    with database.transaction() as session:
        judge_peers(session, campaign_id)


def start(database: Database) -> None:
    """Do one pass of the scheduler."""
    list(start_runs(database, NodeQueues(), system_clock()))


def last_run(database: Database) -> int:
    """Return the last run in the queue."""
    with database.transaction() as session:
        return int(session.scalars(text("SELECT max(id) FROM run")).one())


def main() -> None:
    """Print all durations, and fail if one is above its limit."""
    took: dict[str, float] = {}
    with private_postgres() as postgres:
        engine = open_engine(postgres.url, pool_size=4)
        migrate(engine)
        app = create_app(Settings(database_url=SecretStr(postgres.url), redis_url=SecretStr("redis://127.0.0.1:1/0")))
        with TestClient(app) as client:
            measure(Database(engine), client, took)
        engine.dispose()
    print("plan:", *(f"{name}_seconds={seconds:.2f}" for name, seconds in took.items()))
    if any(took[name] > most for name, most in MOST_SECONDS.items()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""`iotide-server up` as an admin runs it; one start serves most tests, in the order of this file."""

import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import httpx2
import pytest
from bring_up import free_port
from opened import opened_command
from redis import Redis
from services import temporary_state

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.tls import fingerprint
from iotide_server.commands.serving import usual_processes

from .conftest import ClosedDirectory, closed_directory, wait_until

pytestmark = pytest.mark.timeout(300)  # starts whole servers, on a machine that may be busy

COMMAND = (sys.executable, "-P", "-m", "iotide_server.cli")
PARTS = ("api", "scheduler", "worker")
START_SECONDS = 100.0
QUIET = {name: value for name, value in os.environ.items() if not name.startswith("IOTIDE_")}


IS_ROOT = os.geteuid() == 0
SETS: Final = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if IS_ROOT else []))

READS: Final = """
import os, sys
uid, gid, groups = int(sys.argv[1]), int(sys.argv[2]), [int(group) for group in sys.argv[3].split()]
if os.geteuid() == 0:
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
os.open(sys.argv[4], os.O_RDONLY)
"""


@dataclass
class Up:
    """A running `iotide-server up`, started in a directory that its user may not enter."""

    state: StateDirectory
    closed: ClosedDirectory
    port: int
    options: list[str] = field(default_factory=list)
    process: "subprocess.Popen[str] | None" = None

    @property
    def said(self) -> str:
        file = self.state.root.with_suffix(".said")
        return file.read_text() if file.exists() else ""

    def start(self) -> None:
        arguments = ["up", "--state", str(self.state.root), "--port", str(self.port), *self.options]
        with self.state.root.with_suffix(".said").open("w") as said:
            self.process = subprocess.Popen(
                self.closed.command(*opened_command([*COMMAND, *arguments], state=self.state.root)),
                cwd=self.closed.path,
                stdout=said,
                stderr=said,
                text=True,
                env=QUIET,
                start_new_session=True,
            )
        process = self.process
        wait_until(lambda: "iotide is ready" in self.said or process.poll() is not None, seconds=START_SECONDS)
        assert process.poll() is None, self.said

    def end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def children(self) -> dict[str, int]:
        """Return name and process number of each part."""
        assert self.process is not None
        words = {pid: words_of(pid) for pid in children_of(self.process.pid)}
        return {next((word for word in command if word in PARTS), command[0]): pid for pid, command in words.items()}

    def runs_again(self, part: str, old_pid: int) -> bool:
        return self.children().get(part, old_pid) != old_pid


def children_of(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def words_of(pid: int) -> list[str]:
    """Return a process's command line; an empty word if it has ended, also since it was listed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return [""]


def status_of(pid: int) -> Mapping[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def descendants(pid: int) -> list[int]:
    return [found for child in children_of(pid) for found in (child, *descendants(child))]


@pytest.fixture
def secret() -> Iterator[Path]:
    """Make a file of root's in a directory that all users can read."""
    with NamedTemporaryFile(prefix="iotide-") as file:
        if not IS_ROOT:
            os.fchmod(file.fileno(), 0)
        yield Path(file.name)


def serving(api_pid: int) -> set[int]:
    """Return the processes of the API that serve requests."""
    return set(children_of(api_pid))


@contextmanager
def up(*options: str) -> Iterator[Up]:
    with temporary_state() as state, closed_directory() as closed:
        running = Up(state, closed, free_port(in_a_row=3), list(options))
        try:
            running.start()
            yield running
        finally:
            if running.process is not None and running.process.poll() is None:
                running.end(signal.SIGTERM)
            state.root.with_suffix(".said").unlink()


@pytest.fixture(scope="module")
def services() -> Iterator[Up]:
    with up() as running:
        yield running


def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=QUIET, check=False)


def call_up(state: StateDirectory, *options: str) -> "subprocess.CompletedProcess[str]":
    command = opened_command([*COMMAND, "up", "--state", str(state.root), *options], state=state.root)
    return subprocess.run(command, capture_output=True, text=True, env=QUIET, check=False)


def ask(url: str, path: str, **options: Any) -> Any:  # noqa: ANN401 - whatever JSON the route answers
    answer = httpx2.get(f"{url}/api/v1{path}", timeout=10, trust_env=False, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def is_well(url: str) -> bool:
    try:
        health = ask(url, "/health")
    except httpx2.HTTPError:
        return False
    return bool(health["status"] == "ok")


def test_every_part_is_well_and_runs_as_an_ordinary_user(services: Up) -> None:
    wait_until(lambda: is_well(f"http://127.0.0.1:{services.port}"))
    children = services.children()
    assert set(PARTS) <= set(children)
    assert len(children) == len(PARTS) + 2
    for pid in (*children.values(), services.process.pid if services.process else 0):
        assert Path(f"/proc/{pid}").stat().st_uid == services.state.account.uid != 0


def test_no_part_has_a_capability_or_reads_what_is_roots(services: Up, secret: Path) -> None:
    assert services.process is not None
    processes = [services.process.pid, *descendants(services.process.pid)]
    found = {pid: status_of(pid) for pid in processes}
    names = {status["Name"][0] for status in found.values()}
    assert len(names) >= 3, names  # PostgreSQL and Redis have their own command names; the other parts run as Python
    for pid, status in found.items():
        sets = {name: int(status[name][0], 16) for name in SETS}
        assert sets == dict.fromkeys(SETS, 0), (pid, status["Name"])
        ids = {*status["Uid"], *status["Gid"]}
        assert "0" not in ids or not IS_ROOT, (pid, status["Name"], ids)
        assert status["NoNewPrivs"] == ["1" if IS_ROOT else status["NoNewPrivs"][0]]
    for who in {(status["Uid"][1], status["Gid"][1], " ".join(status["Groups"])) for status in found.values()}:
        done = subprocess.run(
            [sys.executable, "-c", READS, *who, str(secret)], capture_output=True, text=True, check=False
        )
        assert "PermissionError" in done.stderr, who


def test_nothing_listens_beyond_loopback(services: Up) -> None:
    table = [
        line.split()[1:4]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().split("\n")[1:-1]
    ]
    ours = {f"{services.port + offset:04X}" for offset in range(3)}
    listening = [address for address, _, status in table if status == "0A" and address.split(":")[1] in ours]
    assert sorted(address.split(":")[0] for address in listening) == ["0100007F", "0100007F"]


def test_a_second_copy_is_refused(services: Up) -> None:
    refused = call_up(services.state, "--port", str(free_port()))
    assert refused.returncode == 2
    assert services.process is not None
    assert f"is already running on {services.state.root} as process {services.process.pid}" in refused.stderr


@pytest.mark.parametrize(("taken", "option"), [(0, "--port"), (1, "--redis-port")])
def test_a_taken_port_is_refused_by_the_name_of_its_option(services: Up, taken: int, option: str) -> None:
    own = {"--port": str(free_port()), "--redis-port": str(free_port()), option: str(services.port + taken)}
    with temporary_state() as state:
        refused = call_up(state, *(word for pair in own.items() for word in pair))
        assert refused.returncode == 2
        assert f"Port {services.port + taken} on 127.0.0.1 is already in use" in refused.stderr
        assert option in refused.stderr.splitlines()[-1]


def test_the_first_link_signs_an_administrator_in_once(services: Up) -> None:
    link = re.search(r"sign in once, within a day: \S+#token=(\S+)", services.said)
    assert link is not None
    url = f"http://127.0.0.1:{services.port}/api/v1/session/link"
    statuses = [httpx2.post(url, json={"token": link[1]}, trust_env=False).status_code for _ in range(2)]
    assert statuses[0] == 200
    assert statuses[1] in {401, 404, 409}


def test_a_killed_part_is_restarted_and_reported(services: Up) -> None:
    for name in ("api", "scheduler"):
        killed = services.children()[name]
        os.kill(killed, signal.SIGKILL)
        wait_until(partial(services.runs_again, name, killed))
        assert f"{name} ended with status -9; restarting in 500 ms" in services.said
    wait_until(lambda: is_well(f"http://127.0.0.1:{services.port}"), seconds=START_SECONDS)


def test_a_killed_process_of_the_api_is_replaced_and_none_outlives_their_parent(services: Up) -> None:
    api_pid = services.children()["api"]
    assert len(serving(api_pid)) == usual_processes()
    assert len(list(Path(f"/proc/{api_pid}/task").iterdir())) == 1, "it forks, so it may only have one thread"
    killed = min(serving(api_pid))
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: len(serving(api_pid) - {killed}) == usual_processes())
    assert services.children()["api"] == api_pid
    orphans = serving(api_pid)
    os.kill(api_pid, signal.SIGKILL)
    wait_until(lambda: services.runs_again("api", api_pid))
    wait_until(lambda: is_well(f"http://127.0.0.1:{services.port}"), seconds=START_SECONDS)
    assert not [pid for pid in orphans if Path(f"/proc/{pid}").exists()]


def test_a_join_token_for_an_unknown_cluster_is_refused(services: Up) -> None:
    refused = call("join-token", "no-such-cluster", "--state", str(services.state.root))
    assert refused.returncode == 2
    assert "no-such-cluster" in refused.stderr


def test_processes_of_a_killed_supervisor_end_and_the_next_start_continues(services: Up) -> None:
    link = call("admin-link", "--state", str(services.state.root)).stdout.strip()
    orphans = list(services.children().values())
    services.end(signal.SIGKILL)
    services.start()
    assert not [pid for pid in orphans if Path(f"/proc/{pid}").exists()]
    url = f"http://127.0.0.1:{services.port}/api/v1/session/link"
    answer = httpx2.post(url, json={"token": link.partition("#token=")[2]}, trust_env=False)
    assert answer.status_code == 200, "the link was made before the kill"


def test_a_signal_ends_everything_cleanly(services: Up) -> None:
    parts = list(services.children().values())
    parts += serving(services.children()["api"])
    assert services.end(signal.SIGINT) == 0
    assert not [pid for pid in parts if Path(f"/proc/{pid}").exists()]
    assert services.said.endswith("stopping\n")
    log = (services.state.root / "log" / "postgres.log").read_text()
    assert log.rstrip().endswith("database system is shut down")


def test_other_hosts_reach_api_and_redis_by_tls_with_our_ca() -> None:
    with up("--listen", "127.0.0.2", "--public-name", "localhost.localdomain") as services:
        ca = services.state.root / "tls" / "ca.crt"
        trust = ssl.create_default_context(cafile=ca)
        assert ask(f"https://127.0.0.2:{services.port}", "/ready", verify=trust) == {"status": "ready"}
        password = services.state.secret("redis-server")
        url = f"rediss://iotide-server:{password}@127.0.0.2:{services.port + 2}/0"
        with Redis.from_url(url, ssl_ca_certs=str(ca)) as redis:
            assert redis.ping()
        sign_in = call("admin-link", "--state", str(services.state.root)).stdout
        assert sign_in.startswith(f"https://localhost.localdomain:{services.port}/")
        with httpx2.Client(base_url=f"https://127.0.0.2:{services.port}/api/v1", verify=trust, trust_env=False) as api:
            api.post("/session/link", json={"token": sign_in.strip().partition("#token=")[2]})
            made = api.post("/clusters", json={"name": "far", "description": ""}, headers={"X-Iotide-Csrf": "1"})
        assert made.status_code == 201, made.text
        command = call("join-token", "far", "--state", str(services.state.root)).stdout
        assert f".{fingerprint(ca.read_text())} | " in command
        assert command.rstrip().endswith(f" --server https://localhost.localdomain:{services.port}")


def test_external_services_are_used_when_named(postgres_server: PrivatePostgres, redis_server: PrivateRedis) -> None:
    postgres_server.create_database("external")
    url = postgres_server.url_of("external")
    with up("--database-url", url, "--redis-url", redis_server.url) as services:
        assert set(services.children()) == set(PARTS)
        wait_until(lambda: is_well(f"http://127.0.0.1:{services.port}"))
    postgres_server.drop_database("external")

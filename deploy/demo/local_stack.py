"""Complete iotide on this machine, for the demo, contract tests and benches: server, agents, targets, client."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self
from urllib.parse import parse_qs, urlsplit

import httpx2
from bring_up import StackError, free_port, wait_for
from opened import opened_command

from iotide_agent.core.transport import Refusal, Unreachable
from iotide_agent.node.config import ConfigError, load_config
from iotide_agent.node.enrolment import enroll
from iotide_agent.node.pinning import PinError

OWN_BIN: Final = Path(sys.executable).parent
BIN = OWN_BIN
"""Directory of `iotide-server`, `iotide-agent` and `iotide`; tests may use another release."""

SESSION_COOKIE = "iotide_session"

_COMMAND_MARKS = {
    "api": "iotide_server.cli\0api\0",
    "scheduler": "iotide_server.cli\0scheduler\0",
    "worker": "iotide_server.cli\0worker\0",
    "redis": "-server 127.0.0.1",  # Redis and Valkey rewrite their command line
    "postgres": "postgres\0-D",
}


class RefusedError(StackError):
    """The server rejected a request. The message has its error."""

    def __init__(self, response: httpx2.Response) -> None:
        request = response.request
        super().__init__(f"{request.method} {request.url.path}: {response.status_code} {response.text}")
        self.status = response.status_code


@dataclass(frozen=True)
class Launch:
    """Options of an agent's start.

    Attributes:
        server_url: the agent's server URL, if not the stack's own.
        configuration: lines added to agent.toml.
        within: a command that runs the agent, such as `ip netns exec NAME`.
    """

    server_url: str | None = None
    configuration: str = ""
    within: Sequence[str] = ()


AS_USUAL = Launch()


@dataclass
class Agent:
    """Agent of the stack.

    Attributes:
        node_id: the node's id on the server.
        directory: configuration, state and log.
        within: the command that runs it, if any.
    """

    name: str
    node_id: int
    directory: Path
    process: subprocess.Popen[bytes]
    environment: Mapping[str, str] = field(default_factory=dict)
    within: Sequence[str] = ()

    @property
    def log(self) -> str:
        """Return the agent's output."""
        return (self.directory / "agent.log").read_text(errors="replace")


class LocalStack:
    """Server and agents below one directory. The `with` block stops everything at its end.

    Attributes:
        agents_share: lines of agent.toml that all agents have.
    """

    def __init__(self, directory: Path, *, port: int | None = None, server_arguments: Sequence[str] = ()) -> None:
        self.directory = directory
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.agents: list[Agent] = []
        self.agents_share = ""
        self.api = httpx2.Client(base_url=f"{self.url}/api/v1", timeout=30)
        self.token = ""
        self.redis_port = free_port()
        self._server_arguments = list(server_arguments)
        self._server: subprocess.Popen[bytes] | None = None
        self._is_new = False

    def __enter__(self) -> Self:
        try:
            self.start_server()
            self.sign_in()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def server_pid(self) -> int:
        """Return the process id of `iotide-server up`."""
        if self._server is None:
            raise StackError("the server was not started")
        return self._server.pid

    def part_pid(self, name: str) -> int:
        """Return the process id of a part: `api`, `scheduler`, `worker`, `redis` or `postgres`.

        Raises:
            StackError: the part is not running.
        """
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                command = stat.with_name("cmdline").read_text()
            except OSError:  # it has ended
                continue
            if parent == self.server_pid and _COMMAND_MARKS[name] in command:
                return int(stat.parent.name)
        raise StackError(f"{name} is not running")

    @property
    def settings(self) -> dict[str, str]:
        """Return the environment of the server's parts, such as `IOTIDE_DATABASE_URL` and `IOTIDE_REDIS_ADMIN_URL`."""
        variables: dict[str, str] = json.loads((self.directory / "server/environment.json").read_text())
        return variables

    def start_server(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        ports = ["--port", str(self.port), "--redis-port", str(self.redis_port)]
        state = self.directory / "server"
        self._is_new = not state.exists()
        up = [str(BIN / "iotide-server"), "up", "--state", str(state), *ports, *self._server_arguments]
        with (self.directory / "server.log").open("ab") as log:
            self._server = subprocess.Popen(
                opened_command(up, state=state), stdout=log, stderr=log, start_new_session=True
            )
        self.wait_ready()

    def kill_server(self) -> None:
        """Kill `iotide-server up`. Its parts then end too."""
        os.kill(self.server_pid, signal.SIGKILL)
        if self._server is not None:
            self._server.wait()

    def wait_ready(self) -> None:
        """Wait until the API responds and has its database.

        Raises:
            StackError: the server has ended, or was not ready within 5 min.
        """
        wait_for("the server", self._ready, seconds=300)

    def _ready(self) -> bool | None:
        if self._server is not None and self._server.poll() is not None:
            raise StackError(f"the server exited with status {self._server.returncode}:\n{self._tail('server.log')}")
        try:
            return True if self.api.get("/ready", timeout=2).is_success else None
        except httpx2.HTTPError:
            return None

    def _tail(self, name: str) -> str:
        return "\n".join((self.directory / name).read_text(errors="replace").splitlines()[-30:])

    def admin_link(self) -> str:
        """Return a new link that signs the administrator in once."""
        argv = [str(BIN / "iotide-server"), "admin-link", "--state", str(self.directory / "server")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise StackError(f"iotide-server admin-link: {done.stderr}")
        return next(word for word in done.stdout.split() if word.startswith("http"))

    def first_link(self) -> str:
        """Return the link that a new server prints when ready, which avoids starting another command."""

        def printed() -> str | None:
            words = self._tail("server.log").partition("sign in once, within a day: ")[2].split()
            return words[0] if words else None

        return wait_for("the first sign-in link", printed)

    def browser_session(self, link: str | None = None) -> str:
        """Return the value of a session cookie for a sign-in link, by default a new one."""
        secret = parse_qs(urlsplit(link or self.admin_link()).fragment)["token"][0]
        with httpx2.Client(base_url=self.api.base_url) as browser:
            self._answer(browser.post("/session/link", json={"token": secret}, headers={"X-Iotide-Csrf": "1"}))
            return browser.cookies[SESSION_COOKIE]

    def sign_in(self) -> None:
        """Exchange a sign-in link for an API token, which the client uses from then on."""
        link = self.first_link() if self._is_new else self.admin_link()
        self.api.cookies.set(SESSION_COOKIE, self.browser_session(link))
        created = self.post(
            "/tokens", {"name": "local-stack", "scopes": ["read", "operate", "admin"], "expires_at": None}
        )
        self.api.cookies.clear()
        self.token = created["token"]
        self.api.headers["Authorization"] = f"Bearer {self.token}"

    def post(self, path: str, body: object, **headers: str) -> Any:  # noqa: ANN401 - JSON of the route
        """Return the response to a POST.

        Raises:
            RefusedError: the server rejected it.
        """
        return self._answer(self.api.post(path, json=body, headers={"X-Iotide-Csrf": "1", **headers}))

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON of the route
        return self._answer(self.api.get(path, params=query))

    @staticmethod
    def _answer(response: httpx2.Response) -> Any:  # noqa: ANN401 - JSON of the route
        if response.is_error:
            raise RefusedError(response)
        return response.json()

    def add_cluster(self, name: str) -> int:
        """Create a cluster and return its id."""
        cluster_id: int = self.post("/clusters", {"name": name, "description": ""})["id"]
        return cluster_id

    def add_agent(
        self,
        cluster_id: int,
        name: str,
        directories: Sequence[Path],
        environment: Mapping[str, str] | None = None,
        *,
        launch: Launch = AS_USUAL,
    ) -> Agent:
        """Enroll an agent with `directories` approved, start it and wait for its first heartbeat.

        Args:
            environment: added to this process's environment.
        """
        home = self.enrol(cluster_id, name, directories, launch=launch)
        process = self.run_agent(home, environment or {}, launch.within)
        return self.meet(cluster_id, Agent(name, 0, home, process, dict(environment or {}), launch.within))

    def enrol(
        self, cluster_id: int, name: str, directories: Sequence[Path], *, launch: Launch = AS_USUAL, uses: int = 1
    ) -> Path:
        """Enroll an agent with `directories` approved and return its directory.

        Args:
            uses: uses of the join token; with more than one, the node waits for approval.
        """
        home = self.directory / "agents" / str(cluster_id) / name
        home.mkdir(parents=True)
        for directory in directories:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        approved = ", ".join(f'"{directory}"' for directory in directories)
        (home / "agent.toml").write_text(
            f'server = "{launch.server_url or self.url}"\nnode_name = "{name}"\nrole = "compute"\n'
            f'state_directory = "{home / "state"}"\napproved_directories = [{approved}]\n'
            f"{self.agents_share}{launch.configuration}"
        )
        join = self.post(f"/clusters/{cluster_id}/join-tokens", {"uses": uses, "expires_in_seconds": 600})
        if BIN == OWN_BIN:
            _enrol_here(home / "agent.toml", join["token"])
            return home
        argv = [str(BIN / "iotide-agent"), "enroll", "--config", str(home / "agent.toml")]
        argv += ["--join-token", join["token"]]  # not on standard input, which agents of 0.1.0 do not read
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise StackError(f"iotide-agent enroll: {done.stdout}{done.stderr}")
        return home

    def meet(self, cluster_id: int, agent: Agent) -> Agent:
        """Wait for the first heartbeat of a started agent. It is stopped with the stack even if none arrives."""
        self.agents.append(agent)
        node = wait_for(f"agent {agent.name}", lambda: self._online_node(cluster_id, agent.name), seconds=30)
        agent.node_id = node["id"]
        return agent

    @staticmethod
    def run_agent(home: Path, environment: Mapping[str, str], within: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start the enrolled agent of a directory."""
        with (home / "agent.log").open("ab") as log:
            return subprocess.Popen(
                [*within, str(BIN / "iotide-agent"), "run", "--config", str(home / "agent.toml")],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, **environment},
            )

    def restart_agent(self, agent: Agent) -> None:
        """Start an agent that was killed or stopped."""
        agent.process.wait(timeout=20)
        agent.process = self.run_agent(agent.directory, agent.environment, agent.within)

    def _online_node(self, cluster_id: int, name: str) -> dict[str, Any] | None:
        nodes = self.get("/nodes", cluster_id=cluster_id, limit=500)["items"]
        return next((node for node in nodes if node["name"] == name and node["state"] == "online"), None)

    def add_target(self, cluster_id: int, name: str, path: Path, nodes: Sequence[int]) -> int:
        """Create a target of scope `node` for `path` on these nodes and return its id."""
        body = {"cluster_id": cluster_id, "name": name, "path": str(path), "scope": "node", "nodes": list(nodes)}
        target_id: int = self.post("/targets", {**body, "reserve_bytes": None})["id"]
        return target_id

    def wait_campaign(self, campaign_id: int, *, seconds: float = 120.0) -> dict[str, Any]:
        """Return the campaign once all its runs have ended."""

        def ended() -> dict[str, Any] | None:
            campaign: dict[str, Any] = self.get(f"/campaigns/{campaign_id}")
            return campaign if campaign["state"] in {"finished", "failed", "cancelled"} else None

        return wait_for(f"campaign {campaign_id}", ended, seconds=seconds)

    def stop_agent(self, agent: Agent) -> None:
        _end(agent.process)
        self.agents.remove(agent)

    def stop(self) -> None:
        """Stop agents, then the server. Kill the process groups of those that take longer than 20 s.

        A second Ctrl-C or SIGTERM takes effect only after everything has stopped.
        """
        with _signals_held_back():
            for agent in self.agents:
                agent.process.terminate()
            for agent in self.agents:
                _end(agent.process)
                _end_runners(agent)
            if self._server is not None:
                _end(self._server)
        self.api.close()

    def wait_server_ended(self) -> NoReturn:
        """Wait while the server runs.

        Raises:
            StackError: the server has ended.
        """
        if self._server is not None:
            self._server.wait()
        raise StackError(f"the server ended:\n{self._tail('server.log')}")


@contextmanager
def _signals_held_back() -> Iterator[None]:
    ending = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enrol_here(config: Path, join_token: str) -> None:
    """Enroll like `iotide-agent enroll`, without starting Python, which takes a third of a second."""
    try:
        enroll(load_config(config), None, join_token, replace=False)
    except (ConfigError, PinError, Refusal, Unreachable) as error:
        raise StackError(f"the agent of {config} could not enroll: {error}") from error


def _end_runners(agent: Agent) -> None:
    """Kill runners and loads, which survive their agent by design."""
    for phase in (agent.directory / "state/orders").glob("*/phase.json"):
        pid = json.loads(phase.read_text()).get("pid")
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists() and str(phase.parent) in command.read_text():
            os.kill(pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)

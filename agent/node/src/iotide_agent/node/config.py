"""Settings of agent.toml."""

import os
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from iotide_agent.node.mpi_config import MpiConfig
from iotide_agent.node.own_files import why_changeable
from iotide_wire.base import Name, problem_in
from iotide_wire.batch import BatchSystem
from iotide_wire.catalogue import WorkloadName
from iotide_wire.endpoint import AUTOMATIC, LOOPBACK, check_data_address
from iotide_wire.messages import NodeRole
from iotide_wire.units import GIB, MIB

SYSTEM_CONFIG: Final = Path("/etc/iotide/agent.toml")
SYSTEM_STATE: Final = Path("/var/lib/iotide-agent")
_MOST_PORT: Final = 65535


class ConfigError(ValueError):
    def __init__(self, field: str, value: object, remedy: str) -> None:
        super().__init__(f"{field} = {value!r}: {remedy}")
        self.field = field
        self.value = value
        self.remedy = remedy


def _check_directory(text: str) -> str:
    # Touching the path could hang on a dead mount.
    path = PurePosixPath(text)
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("use an absolute path without '..', for example /mnt/scratch/iotide")
    if path == PurePosixPath("/"):
        raise ValueError("the root directory cannot be approved; use a directory for benchmarks")
    return str(path)


def _check_state(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError(f"use an absolute path, for example {SYSTEM_STATE}")
    return path


def _check_textfile(path: Path) -> Path:
    if not path.is_absolute() or path.suffix != ".prom":
        raise ValueError("use an absolute path that ends in .prom, for example /run/node-exporter/iotide.prom")
    return path


def _check_data_address(text: str) -> str:
    return text if text == AUTOMATIC else check_data_address(text)


def _check_broker_address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", host) or not (
        port.isdecimal() and 1 <= int(port) <= _MOST_PORT
    ):
        raise ValueError("use host:port, for example gateway:8472 or [2001:db8::7]:8472")
    return text


def default_state() -> Path:
    """Return $IOTIDE_AGENT_STATE, or the system's directory for root, or one below the home directory."""
    return _default("IOTIDE_AGENT_STATE", SYSTEM_STATE, ".local/state/iotide-agent")


def default_config() -> Path:
    """Return $IOTIDE_AGENT_CONFIG, or the system's file for root, or one below the home directory."""
    return _default("IOTIDE_AGENT_CONFIG", SYSTEM_CONFIG, ".config/iotide/agent.toml")


def _default(variable: str, of_root: Path, below_home: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else of_root if os.geteuid() == 0 else Path.home() / below_home


class QuietLimits(BaseModel):
    """Limits of an idle node: `[quiet]` of agent.toml, see docs/quiet-nodes.md.

    Attributes:
        cpu_ratio: Share of all CPUs; as much as is flagged during a run.
        tasks_per_processor: Runnable tasks. Above this a benchmark shares CPUs with others.
        psi_cpu_ratio, psi_io_ratio: Share of time in which some task waits for CPU or storage.
        disk_bytes_per_second: About a hundredth of a hard disk's rate; logs and monitoring stay far below.
        network_bytes_per_second: About a hundredth of 1 Gbit/s; the agent's heartbeats are a thousandth of that.
        sessions: Login sessions; None: any number, because the other limits cover what they do.
        jobs: Jobs of a batch system; an idle job may start work at any moment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu_ratio: Annotated[float, Field(ge=0, le=1)] = 0.10
    tasks_per_processor: Annotated[float, Field(ge=0)] = 0.5
    psi_cpu_ratio: Annotated[float, Field(ge=0, le=1)] = 0.10
    psi_io_ratio: Annotated[float, Field(ge=0, le=1)] = 0.10
    disk_bytes_per_second: Annotated[float, Field(ge=0)] = 1024.0**2
    network_bytes_per_second: Annotated[float, Field(ge=0)] = 1024.0**2
    sessions: Annotated[int, Field(ge=0)] | None = None
    jobs: Annotated[int, Field(ge=0)] = 0


PlainPath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/{}+-]+$")]
"""Path that needs no quoting: LSF passes a job's command to a shell."""


class BatchConfig(BaseModel):
    """Access of a gateway to its batch system.

    Attributes:
        submit_arguments: Additional arguments of the submitting command, for instance `["--partition=bench"]`.
        agent_command: Command that starts the agent on the nodes; default: next to this program.
        agent_config: Path of agent.toml on the nodes; `{node}` is replaced by the node's name.
        log_directory: Directory on the nodes for the jobs' output; default: none.
        poll_seconds: Interval between checks of the jobs.
        margin_seconds: Time limit of a job beyond that of its load: for preparation, cleanup and sending results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    system: BatchSystem
    submit_arguments: tuple[str, ...] = ()
    agent_command: tuple[PlainPath, ...] = ()
    agent_config: PlainPath | None = None
    log_directory: PlainPath | None = None
    poll_seconds: Annotated[float, Field(ge=1, le=10)] = 5.0
    margin_seconds: Annotated[float, Field(ge=60, le=86_400)] = 600.0


class AgentConfig(BaseModel):
    """Configuration of the agent.

    Attributes:
        server: Base URL of the server; `enroll` needs it unless it has --server.
        node_name: Name of the node; default: its host name.
        state_directory: Directory for identity, orders and unsent results; use a local disk that is not under test.
        approved_directories: Directories below which runs may write; nowhere else.
        slots: Maximum number of active orders on this node; None: the server decides.
        run_as: User for targets and loads of a root agent. Default: `iotide-load` if the node has that user,
            otherwise root. `root` keeps root. Emptying caches and remounting always run as root.
        cache_drop: `auto` empties the page cache if permitted, otherwise only the run's own files are dropped.
        cache_drop_command: Command that empties the page cache, for agents other than root; `deploy/agent` has a sudo
            rule. If it fails, only the run's own files are dropped.
        remount_command: By directory, the command that unmounts and mounts its file system, for the cache policy
            `remount` and for clients of scratch disks. The server never sends a command.
        budget: By directory, the bytes that runs may write below it in any 24 hours, because flash wears.
        data_address: Address on which runs receive data from other nodes, only during a run: one of this node's, or
            `auto` for the one towards the server. Default: loopback only.
        metrics_textfile: File with metrics for node_exporter's textfile collector; None: no file.
        broker_address: Broker as `host:port`, if this node reaches it differently than the server reports, for
            instance from a container. Default: the server's.
        spool_limit_bytes: The node declines orders while unsent results exceed this.
        workloads: By name, a node's settings of a workload, for instance `[workloads.command]`.
        quiet: Limits of an idle node.
        mpi: For one MPI program over several nodes; None: this node takes no part in one.
        batch: Only for a gateway.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/[^\s]*)?$")] | None = None
    node_name: Name = Field(default_factory=lambda: os.uname().nodename.split(".")[0])
    role: NodeRole = NodeRole.COMPUTE
    state_directory: Annotated[Path, AfterValidator(_check_state)] = Field(default_factory=default_state)
    approved_directories: Annotated[
        tuple[Annotated[str, AfterValidator(_check_directory)], ...], Field(max_length=100)
    ] = ()
    slots: Annotated[int, Field(ge=1, le=1000)] | None = None
    run_as: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$")] | None = None
    cache_drop: Literal["auto", "never"] = "auto"
    cache_drop_command: tuple[str, ...] = ()
    remount_command: dict[
        Annotated[str, AfterValidator(_check_directory)],
        Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)],
    ] = Field(default_factory=dict)
    budget: dict[Annotated[str, AfterValidator(_check_directory)], Annotated[int, Field(ge=1)]] = Field(
        default_factory=dict
    )
    data_address: Annotated[str, AfterValidator(_check_data_address)] = LOOPBACK
    metrics_textfile: Annotated[Path, AfterValidator(_check_textfile)] | None = None
    broker_address: Annotated[str, AfterValidator(_check_broker_address)] | None = None
    spool_limit_bytes: Annotated[int, Field(ge=MIB)] = GIB
    workloads: dict[WorkloadName, dict[str, Any]] = Field(default_factory=dict)
    quiet: QuietLimits = Field(default_factory=QuietLimits)
    mpi: MpiConfig | None = None
    batch: BatchConfig | None = None

    def remount_command_at(self, path: str) -> tuple[str, ...]:
        above = [directory for directory in self.remount_command if PurePosixPath(path).is_relative_to(directory)]
        return self.remount_command[max(above, key=len)] if above else ()


_SETTINGS: Final[dict[str, type[BaseModel]]] = {"quiet": QuietLimits, "mpi": MpiConfig, "batch": BatchConfig}


def load_config(path: Path | None) -> AgentConfig:
    """Return the configuration in `path` or the default file, otherwise the defaults; raise ConfigError."""
    file = path or default_config()
    if path is None and not file.exists():
        return parse_config({})
    try:
        reason = why_changeable(file)
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("config", str(file), f"the file cannot be read: {error}") from error
    if reason is not None:
        # The file contains commands that this agent starts.
        raise ConfigError("config", str(file), reason)
    try:
        return parse_config(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("config", str(file), f"the file is not TOML: {error}") from error


def parse_config(values: dict[str, Any]) -> AgentConfig:
    """Raise ConfigError for the first wrong field."""
    try:
        return AgentConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        remedy = problem_in(first)
        if first["type"] == "extra_forbidden":
            settings = _SETTINGS.get(field.partition(".")[0], AgentConfig) if "." in field else AgentConfig
            remedy = f"unknown setting; the settings are {', '.join(settings.model_fields)}"
        raise ConfigError(field, first["input"], remedy) from error

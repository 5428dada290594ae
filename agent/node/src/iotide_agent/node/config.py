"""What the node's administrator decides in agent.toml: where runs may write, and how the agent keeps its own state."""

import os
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from iotide_agent.node.own_files import why_changeable
from iotide_wire.base import Name
from iotide_wire.batch import BatchSystem
from iotide_wire.catalogue import WorkloadName
from iotide_wire.endpoint import AUTOMATIC, LOOPBACK, check_data_address
from iotide_wire.messages import NodeRole
from iotide_wire.units import GIB, MIB

SYSTEM_CONFIG: Final = Path("/etc/iotide/agent.toml")
SYSTEM_STATE: Final = Path("/var/lib/iotide-agent")
_MOST_PORT: Final = 65535


class ConfigError(ValueError):
    """The configuration cannot be used; the text names field, value and remedy, for an exit with status 2."""

    def __init__(self, field: str, value: object, remedy: str) -> None:
        super().__init__(f"{field} = {value!r}: {remedy}")
        self.field = field
        self.value = value
        self.remedy = remedy


def _check_directory(text: str) -> str:
    # Only the text is judged here: touching the path could wait for ever on a dead mount.
    path = PurePosixPath(text)
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("write an absolute path without '..', for instance /mnt/scratch/iotide")
    if path == PurePosixPath("/"):
        raise ValueError("the root directory is never approved; name a directory made for benchmarks")
    return str(path)


def _check_state(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError(f"write an absolute path, for instance {SYSTEM_STATE}")
    return path


def _check_textfile(path: Path) -> Path:
    if not path.is_absolute() or path.suffix != ".prom":
        raise ValueError("write an absolute path that ends in .prom, for instance /run/node-exporter/iotide.prom")
    return path


def _check_data_address(text: str) -> str:
    return text if text == AUTOMATIC else check_data_address(text)


def _check_broker_address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", host) or not (
        port.isdecimal() and 1 <= int(port) <= _MOST_PORT
    ):
        raise ValueError("write host:port, for instance gateway:8472 or [2001:db8::7]:8472")
    return text


def default_state() -> Path:
    """$IOTIDE_AGENT_STATE, else the system's directory for root and one below the home directory for others."""
    return _default("IOTIDE_AGENT_STATE", SYSTEM_STATE, ".local/state/iotide-agent")


def default_config() -> Path:
    """$IOTIDE_AGENT_CONFIG, else the system's file for root and one below the home directory for others."""
    return _default("IOTIDE_AGENT_CONFIG", SYSTEM_CONFIG, ".config/iotide/agent.toml")


def _default(variable: str, of_root: Path, below_home: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else of_root if os.geteuid() == 0 else Path.home() / below_home


class QuietLimits(BaseModel):
    """Above what an idle node is not quiet: `[quiet]` of agent.toml, see docs/quiet-nodes.md.

    Attributes:
        cpu_ratio: processor time, of all processors; as much as is flagged during a run.
        tasks_per_processor: tasks that run or want to. From there on a load shares processors with somebody.
        psi_cpu_ratio, psi_io_ratio: share of time in which some task waits for a processor, or for storage; who waits
            so long would wait longer beside a load, and the load with it.
        disk_bytes_per_second: about a hundredth of what one hard disk writes; logs and monitoring stay far below.
        network_bytes_per_second: about a hundredth of 1 Gbit/s; the agent's own beats are a thousandth of that.
        sessions: of people; None: any number, since what they do is measured by the other limits.
        jobs: of a batch system; one that does nothing yet may begin to at any moment.
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
"""A path that no shell reads otherwise than it stands: LSF gives a job's command to one."""


class BatchConfig(BaseModel):
    """How a gateway speaks to its batch system.

    Attributes:
        submit_arguments: given to sbatch or bsub besides, for instance `["--partition=bench"]`.
        agent_command: what starts the agent on the nodes; beside this program by default.
        agent_config: agent.toml of the nodes, the same path on each; `{node}` stands for the node's name.
        log_directory: where jobs print to, a path of the nodes; nowhere by default.
        poll_seconds: how often it is looked what the jobs do.
        margin_seconds: of a job's time limit, more than its load has: for cleaning, preparing and sending results.
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
    """The agent's configuration.

    Attributes:
        server: base URL of the server, needed by `enroll` where the command line does not name it.
        node_name: what the node is called; its host name by default.
        state_directory: identity, orders and unsent results; on a local disk that is not under test.
        approved_directories: runs write below these and nowhere else.
        slots: orders that may run at once here, whatever the server thinks; None leaves it to the server.
        run_as: the user who touches the targets and runs the loads of an agent that is root: by default `iotide-load`
            where this node has it, else root. `root` keeps root. Caches and remounts stay with root.
        cache_drop: `auto` empties the page cache where that is permitted, else only the run's own files are dropped.
        cache_drop_command: what empties the page cache, for agents that are not root; `deploy/agent` has a sudo rule
            for it. Where it fails, only the run's own files are dropped.
        remount_command: by directory, the argument list that unmounts the file system there and mounts it again, for
            campaigns with the cache policy `remount`; the server never names one.
        budget: by directory, how many bytes runs may write below it in any 24 hours, since flash wears.
        data_address: where the node listens, while a run lasts, for what another node of the run sends: an address of
            one of its interfaces, or `auto` for that by which it reaches its server. By default no other machine can
            reach it.
        metrics_textfile: for node_exporter's textfile collector, what the agent tells Prometheus; None: nothing.
        broker_address: where this node reaches the broker, `host:port`, when that is another way than the server names:
            out of a container, or through a forwarded port. By default the server's.
        spool_limit_bytes: unsent results above this make the node decline further orders.
        workloads: by name, what a workload lets a node decide, for instance `[workloads.command]`.
        quiet: above what the idle node is not quiet.
        batch: of a gateway alone.
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
    batch: BatchConfig | None = None

    def remount_command_at(self, path: str) -> tuple[str, ...]:
        """The command of the deepest directory at or above `path` that has one, else nothing."""
        above = [directory for directory in self.remount_command if PurePosixPath(path).is_relative_to(directory)]
        return self.remount_command[max(above, key=len)] if above else ()


def load_config(path: Path | None) -> AgentConfig:
    """Return the configuration in `path`, else in the default file, else the defaults.

    Raise ConfigError where a named file is missing, others could change it, or it holds what cannot be used.
    """
    file = path or default_config()
    if path is None and not file.exists():
        return parse_config({})
    try:
        reason = why_changeable(file)
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("config", str(file), f"the file cannot be read: {error}") from error
    if reason is not None:
        # It says which commands this agent starts.
        raise ConfigError("config", str(file), reason)
    try:
        return parse_config(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("config", str(file), f"the file is not TOML: {error}") from error


def parse_config(values: dict[str, Any]) -> AgentConfig:
    """Return the configuration of TOML values; raise ConfigError, which names the first field that is wrong."""
    try:
        return AgentConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        remedy = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            settings = QuietLimits if field.startswith("quiet.") else AgentConfig
            remedy = f"there is no such setting; there are {', '.join(settings.model_fields)}"
        raise ConfigError(field, first["input"], remedy) from error

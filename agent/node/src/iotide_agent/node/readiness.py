"""Checks of a node's setup, each with a remedy."""

import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from iotide_agent.core.clock import ServerClock
from iotide_agent.core.transport import Refusal, Unreachable, transport_of
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.host import disk_problem
from iotide_agent.node.identity import Identity, NotEnrolledError, load_identity
from iotide_agent.node.inventory import Inventory, take_inventory
from iotide_agent.node.load_user import LoadUser
from iotide_agent.node.mpi_config import MOST_STATE_BYTES, SHORT_PATHS
from iotide_agent.node.own_files import why_exchangeable
from iotide_agent.node.receiving import data_address, interface_of, why_not_here
from iotide_agent.orders.budget import BudgetUnknownError, Ledger
from iotide_agent.probes.reader import CommandWant, SystemReader, Unavailable
from iotide_agent.runner.caches import DROP_SOCKET
from iotide_agent.runner.headroom import free_bytes, is_full
from iotide_agent.runner.processes import boottime
from iotide_agent.runner.walls import OpenToOthersError, program_of
from iotide_wire.endpoint import AUTOMATIC, LOOPBACK
from iotide_wire.nodes import ClockReading, Standing
from iotide_wire.units import format_bytes, format_seconds
from iotide_wire.versions import WIRE_VERSION

CLOCK_SECONDS: Final = 1.0
"""A larger offset distorts comparisons between nodes and the times of events."""
_ASKED: Final = 3
"""The quickest of several answers is the most accurate."""
_NO_SUCH_ROUTE: Final = 404


class State(StrEnum):
    READY = "ready"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    sentence: str
    remedy: str | None = None


def examine(config: AgentConfig) -> list[Finding]:
    inventory = take_inventory(config)
    return [
        *_server(config),
        *_directories(config, inventory),
        _state_directory(config.state_directory, inventory),
        *_kernel(),
        _memory(inventory),
        *_user(inventory.load_user),
        _caches(config),
        *_remounts(config),
        *_devices(config, inventory.load_user),
        *_budgets(config, inventory),
        _receiving(config),
        *_mpi(config, inventory.load_user),
        *_metrics(config),
        *_tools(inventory),
    ]


def _server(config: AgentConfig) -> Iterator[Finding]:
    try:
        identity = load_identity(config.state_directory)
    except NotEnrolledError as error:
        yield Finding("identity", State.MISSING, str(error), "echo TOKEN | iotide-agent enroll --server URL")
        return
    clock = ServerClock()
    try:
        with closing(transport_of(identity)) as transport:
            for _ in range(_ASKED):
                sent_at = boottime()
                standing = transport.standing()
                clock.learn(standing.server_time, sent_at, boottime())
    except Unreachable as error:
        remedy = "start the server, or check the network and the address in identity.json"
        yield Finding("server", State.MISSING, f"{identity.server_url} does not answer: {error}", remedy)
    except Refusal as error:
        yield _refused(identity, error)
    else:
        yield Finding("server", State.READY, f"{identity.server_url} answers")
        yield _standing(identity, standing)
        yield _version(standing)
        yield _clock(clock.reading(time.time(), boottime()))


def _refused(identity: Identity, error: Refusal) -> Finding:
    if error.status == _NO_SUCH_ROUTE:
        sentence = f"{identity.server_url} is older than this agent and cannot report the state of this node"
        return Finding("server", State.LIMITED, sentence, "upgrade the server")
    remedy = "enroll this host again, with --replace and a token from the node's or the cluster's page"
    return Finding("identity", State.MISSING, f"{identity.server_url} refuses this node: {error.sentence}", remedy)


def _standing(identity: Identity, standing: Standing) -> Finding:
    known = f"node {standing.node_name} of cluster {standing.cluster}, token fingerprint {identity.fingerprint}"
    if standing.pending_until is None:
        return Finding("identity", State.READY, known)
    until = f"{standing.pending_until:%Y-%m-%d %H:%M} UTC"
    remedy = "ask an admin to approve it on the cluster's page, if that shows the same fingerprint"
    return Finding("identity", State.MISSING, f"{known}: pending approval until {until}", remedy)


def _version(standing: Standing) -> Finding:
    name, sentence = "wire version", f"{WIRE_VERSION}, like the server's"
    if standing.newest_wire_version > WIRE_VERSION:
        sentence = f"{WIRE_VERSION}, older than the server's {standing.newest_wire_version}"
        is_shut_out = standing.oldest_wire_version > WIRE_VERSION
        return Finding(name, State.MISSING if is_shut_out else State.LIMITED, sentence, "upgrade this agent")
    if standing.newest_wire_version < WIRE_VERSION:
        sentence = f"{WIRE_VERSION}, newer than the server's {standing.newest_wire_version}"
        return Finding(name, State.LIMITED, sentence, "upgrade the server")
    return Finding(name, State.READY, sentence)


def _clock(reading: ClockReading | None) -> Finding:
    if reading is None:
        return Finding("clock", State.LIMITED, "the server's time is unknown", "check the network")
    sign = "-" if reading.offset_seconds < 0 else "+"
    sentence = f"{sign}{format_seconds(abs(reading.offset_seconds))} from the server's, ± "
    sentence += format_seconds(reading.uncertainty_seconds)
    if abs(reading.offset_seconds) - reading.uncertainty_seconds <= CLOCK_SECONDS:
        return Finding("clock", State.READY, sentence)
    return Finding("clock", State.MISSING, sentence, "synchronise both clocks, for example with chrony")


def _directories(config: AgentConfig, inventory: Inventory) -> Iterator[Finding]:
    if not config.approved_directories:
        remedy = 'add approved_directories = ["/path"] to agent.toml; runs write only there'
        yield Finding("directories", State.MISSING, "no directory is approved", remedy)
    for directory in inventory.approved_directories:
        # A dead mount would hang this process.
        wanted = CommandWant(("test", "-d", directory, "-a", "-w", directory), "coreutils")
        if not inventory.load_user.ids and isinstance(SystemReader().read(wanted), Unavailable):
            remedy = f"create it and give this user write access: install -d -m 0700 {directory}"
            yield Finding(directory, State.MISSING, "missing, or this user may not write there", remedy)
            continue
        reason = inventory.exchangeable.get(directory)
        if reason is not None:
            yield _with_remedy(directory, State.MISSING, reason)
            continue
        mount = next((mount for mount in inventory.mounts if mount.path == directory), None)
        if mount is None:
            # In a chroot whose root is not a mount, the kernel lists none.
            remedy = "approve a directory on a file system that is mounted where this agent runs"
            yield Finding(directory, State.MISSING, "not on any mount that the kernel lists", remedy)
            continue
        free = "unknown" if mount.free_bytes is None else format_bytes(mount.free_bytes)
        yield Finding(directory, State.READY, f"{mount.fstype} from {mount.source}, {free} free")


def _with_remedy(name: str, state: State, reason: str) -> Finding:
    sentence, _, remedy = reason.rpartition("; ")
    return Finding(name, state, sentence, remedy)


def _device_of(directory: str) -> str | None:
    # A dead mount would hang this process.
    answer = SystemReader().read(CommandWant(("stat", "--format=%d", directory), "coreutils"))
    return None if isinstance(answer, Unavailable) else answer.strip()


def _state_directory(directory: Path, inventory: Inventory) -> Finding:
    probe = directory / ".iotide-check"
    reason = why_exchangeable([str(directory.parent)], SystemReader())
    if reason:
        return _with_remedy("state directory", State.MISSING, *reason.values())
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        remedy = "give this user write access, or set another state_directory in agent.toml"
        if is_full(error):
            remedy = "free some space there, or set a state_directory on another file system in agent.toml"
        return Finding("state directory", State.MISSING, f"{directory}: {error.strerror}", remedy)
    problem = disk_problem(directory, tries=True)
    if problem is not None:
        return _with_remedy("state directory", State.MISSING, problem)
    device = str(directory.stat().st_dev)
    shared = [approved for approved in inventory.approved_directories if _device_of(approved) == device]
    if shared:
        sentence = f"{directory} shares its file system with {', '.join(shared)}: a run may fill it"
        remedy = "set a state_directory on another file system in agent.toml"
        return Finding("state directory", State.LIMITED, sentence, remedy)
    free = format_bytes(free_bytes(directory))
    return Finding("state directory", State.READY, f"{directory}, {free} free")


def _kernel() -> Iterator[Finding]:
    try:
        own = os.pidfd_open(os.getpid())
        try:
            os.waitid(os.P_PIDFD, own, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            return  # This process is not its own child; a kernel without P_PIDFD answers EINVAL.
        finally:
            os.close(own)
    except (AttributeError, OSError) as error:
        sentence = f"Linux {os.uname().release} or this Python cannot follow processes by pidfd: {error}"
        yield Finding("kernel", State.MISSING, sentence, "use Linux 5.4 or newer, and a Python that was built on it")


def _memory(inventory: Inventory) -> Finding:
    total_bytes = inventory.facts.get("memory.total_bytes")
    if not isinstance(total_bytes, int):
        return Finding("memory", State.MISSING, "/proc/meminfo is unreadable", "mount /proc")
    needed = format_bytes(2 * total_bytes)
    return Finding(
        "memory", State.READY, f"{format_bytes(total_bytes)}; files of {needed} or more do not fit into the page cache"
    )


def _caches(config: AgentConfig) -> Finding:
    if config.cache_drop == "never":
        return Finding(
            "page cache",
            State.LIMITED,
            "never emptied, because of `cache_drop` in agent.toml",
            "set cache_drop to auto",
        )
    if config.cache_drop_command:
        # Not run: a check must not empty the cache during a run.
        program = config.cache_drop_command[0]
        if shutil.which(program) is None:
            remedy = f"install {program}, or set another cache_drop_command in agent.toml"
            return Finding(
                "page cache", State.LIMITED, f"the program {program} of cache_drop_command does not exist", remedy
            )
        reason = _why_not_started(config.cache_drop_command)
        if reason is not None:
            return _with_remedy("page cache", State.LIMITED, reason)
        return Finding("page cache", State.READY, f"emptied by {' '.join(config.cache_drop_command)}")
    wanted = CommandWant(("test", "-w", "/proc/sys/vm/drop_caches"), "coreutils")
    if not os.access(DROP_SOCKET, os.W_OK) and isinstance(SystemReader().read(wanted), Unavailable):
        remedy = "run `iotide-agent setup` where systemd runs, or set cache_drop_command in agent.toml"
        return Finding("page cache", State.LIMITED, "only a run's own files can be dropped from it", remedy)
    return Finding("page cache", State.READY, "can be emptied before reads")


def _user(user: LoadUser) -> Iterator[Finding]:
    state = State.MISSING if not user.is_usable else State.LIMITED if user.remedy else State.READY
    yield Finding("user", state, user.sentence, user.remedy)
    if user.ids:
        for reason in why_exchangeable([sys.executable], SystemReader(), user.ids).values():
            remedy = "install the agent where that user may read it, for example with UV_TOOL_DIR=/opt/uv/tools"
            yield Finding("user", State.LIMITED, f"iotide's own benchmark programs cannot start: {reason}", remedy)


def _remounts(config: AgentConfig) -> Iterator[Finding]:
    for command in config.remount_command.values():
        reason = _why_not_started(command)
        if reason is not None:
            yield _with_remedy("remount", State.LIMITED, reason)
    for directory in config.approved_directories:
        if not config.remount_command_at(directory):
            sentence = f"campaigns with the cache policy `remount` are declined at {directory}"
            yield Finding("remount", State.LIMITED, sentence, "set a command for it in [remount_command] of agent.toml")


def _why_not_started(command: tuple[str, ...]) -> str | None:
    try:
        program_of(command, os.environ)
    except OpenToOthersError as error:
        return f"{command[0]} is not run: {error}"
    return None


def _devices(config: AgentConfig, user: LoadUser) -> Iterator[Finding]:
    who = f"user {user.ids[0]}, who runs the loads" if user.ids else "this user"
    readable = config.workloads.get("rawread", {}).get("readable", ())
    for path in filter(lambda path: isinstance(path, str), readable):
        wanted = CommandWant(("test", "-r", path), "coreutils", run_as=user.ids)
        if isinstance(SystemReader().read(wanted), Unavailable):
            remedy = "give that user read access, for example by the group disk, or remove it from `readable`"
            yield Finding("raw device", State.LIMITED, f"{path} does not exist or cannot be opened by {who}", remedy)
        for reason in why_exchangeable([path], SystemReader()).values():
            yield _with_remedy("raw device", State.LIMITED, reason)


def _budgets(config: AgentConfig, inventory: Inventory) -> Iterator[Finding]:
    written = Ledger(config.state_directory, inventory.budget, time.time)
    for directory, limit_bytes in inventory.budget.items():
        try:
            spent_bytes = written.spent_bytes(directory)
        except BudgetUnknownError as error:
            yield _with_remedy("budget", State.MISSING, str(error))
            continue
        sentence = f"{format_bytes(spent_bytes)} of {format_bytes(limit_bytes)} per day were written below {directory}"
        yield Finding("budget", State.READY, sentence)


def _metrics(config: AgentConfig) -> Iterator[Finding]:
    if config.metrics_textfile is None:
        return
    directory = config.metrics_textfile.parent
    for reason in why_exchangeable([str(directory.parent)], SystemReader()).values():
        yield _with_remedy("metrics", State.LIMITED, reason)
        return
    if os.access(directory, os.W_OK | os.X_OK):
        yield Finding("metrics", State.READY, f"written to {config.metrics_textfile}")
    else:
        remedy = f"create {directory} with write access for this user and read access for node_exporter"
        yield Finding("metrics", State.LIMITED, f"{directory} does not exist or this user may not write there", remedy)


def _receiving(config: AgentConfig) -> Finding:
    name, wanted = "data address", config.data_address
    if wanted == LOOPBACK:
        return Finding(name, State.READY, f"{wanted}: only other agents on this machine can send data to runs here")
    found = data_address(config)
    if found is not None:
        return Finding(name, State.READY, f"runs listen at {found} for data from other nodes")
    if wanted == AUTOMATIC:
        sentence, remedy = "the node's address towards the server is unknown", "enroll the agent"
    else:
        sentence = f"runs cannot listen at {wanted}: {why_not_here(wanted)}"
        remedy = f"set data_address in agent.toml to an address of this node, or to {AUTOMATIC}"
    return Finding(name, State.LIMITED, sentence, remedy)


def _mpi(config: AgentConfig, user: LoadUser) -> Iterator[Finding]:
    """Check that this node can be a head and a member, without starting a launcher."""
    name, mpi = "mpi", config.mpi
    if mpi is None:
        return
    reader, programs = SystemReader(), (mpi.launcher[0], *mpi.programs)
    unusable = False
    for program in programs:
        wanted = CommandWant(("test", "-f", program, "-a", "-x", program), "coreutils", run_as=user.ids)
        reasons = [
            *why_exchangeable([program], reader).values(),
            *why_exchangeable([program], reader, user.ids).values(),
        ]
        if isinstance(reader.read(wanted), Unavailable):
            who = f"user {user.ids[0]}, who runs the loads" if user.ids else "this user"
            remedy = "install it, or correct launcher and programs of [mpi] in agent.toml"
            yield Finding(name, State.MISSING, f"{program} does not exist or cannot be started by {who}", remedy)
            unusable = True
        elif reasons:
            yield _with_remedy(name, State.MISSING, reasons[0])
            unusable = True
    if unusable:
        return
    address = data_address(config)
    interface = mpi.interface or (address and interface_of(address))
    if mpi.interface is not None and mpi.interface not in {known for _, known in socket.if_nameindex()}:
        remedy = "correct interface of [mpi] in agent.toml"
        yield Finding(name, State.MISSING, f"this node has no interface {mpi.interface}", remedy)
    elif config.data_address == LOOPBACK:
        sentence = "no other node can start a part of a program here: data_address is loopback"
        yield Finding(name, State.LIMITED, sentence, "set data_address in agent.toml to the address of one interface")
    elif not interface:
        remedy = "set interface of [mpi] in agent.toml"
        yield Finding(name, State.LIMITED, f"the interface of {config.data_address} is unknown", remedy)
    elif mpi.kind in SHORT_PATHS and len(os.fsencode(config.state_directory)) > MOST_STATE_BYTES:
        remedy = f"set a state_directory of at most {MOST_STATE_BYTES} bytes in agent.toml"
        yield Finding(name, State.LIMITED, "Open MPI makes sockets whose paths would be too long", remedy)
    else:
        sentence = (
            f"{mpi.kind} by {mpi.launcher[0]}, TCP ports {mpi.ports} on {interface}; allow these from other nodes"
        )
        yield Finding(name, State.READY, sentence)


def _tools(inventory: Inventory) -> Iterator[Finding]:
    for workload in inventory.workloads.values():
        if workload.available:
            yield Finding(workload.name, State.READY, f"{workload.tool} {workload.tool_version}")
        else:
            # The text has its own remedy.
            because = workload.unavailable_because or f"{workload.tool} is missing"
            yield Finding(workload.name, State.LIMITED, because)

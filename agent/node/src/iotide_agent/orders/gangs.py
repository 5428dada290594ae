"""This node's part in one program over several nodes, from its agent.toml and the order."""

from pathlib import PurePosixPath

from iotide_agent.mpi.launchers import TooFewPortsError, check_tasks
from iotide_agent.mpi.networks import is_within
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.mpi_config import MpiConfig
from iotide_agent.node.receiving import interface_of
from iotide_agent.orders.declined import DeclinedError
from iotide_agent.orders.plan import Work
from iotide_agent.runner.card import GangCard
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.measured import GANG_ROLES, StepRole
from iotide_wire.messages import Order, Outcome


def gang_card(order: Order, work: Work, config: AgentConfig, data_address: str | None) -> GangCard:
    """Return this node's part; raise DeclinedError with the remedy if it cannot have one."""
    mpi = _settings(order, config)
    address = _own_address(order, data_address)
    if order.step_role is StepRole.MEMBER:
        _check_head(order, mpi)
    if len(order.targets) != 1:
        reason = f"{len(order.targets)} targets at once: one program over several nodes works on one; choose one target"
        raise DeclinedError("one_target_only", reason, Outcome.FAILED)
    tasks = work.workload.tasks_per_node(work.options)
    if tasks is None or order.directory_order_id is None:
        reason = f"{order.workload} starts a program of its own on each node with these options; submit the run again"
        raise DeclinedError("no_gang_program", reason, Outcome.FAILED)
    if work.workload.starts_own_parts:
        _check_allowed(str(work.workload.tool), mpi)
    else:
        try:
            check_tasks(tasks, mpi.port_range)
        except TooFewPortsError as error:
            raise DeclinedError("too_few_ports", f"{error}; use a larger range, or fewer tasks per node") from error
    return GangCard(
        order_id=order.directory_order_id,
        nodes=tuple((node.name, node.address) for node in order.gang),
        address=address,
        kind=mpi.kind.value,
        launcher=mpi.launcher,
        interface=_interface(mpi, address),
        ports=(mpi.port_range.first, mpi.port_range.last),
        programs=mpi.programs,
        heads=mpi.heads,
        tasks_per_node=None if work.workload.starts_own_parts else tasks,
    )


def environment_of_gang(order: Order, config: AgentConfig, card: GangCard) -> dict[str, str]:
    """Return the whole environment of launcher and parts, without the directories of the run."""
    return _settings(order, config).load_environment(card.interface)


def layout_of(order: Order, work: Work) -> RankLayout | None:
    """Return where the ranks of a gang's program run; None for any other order."""
    tasks = work.workload.tasks_per_node(work.options)
    if order.step_role not in GANG_ROLES or tasks is None:
        return None
    names, addresses = zip(*((node.name, node.address) for node in order.gang), strict=True)
    return RankLayout.of_nodes(names, tasks, addresses)


def _settings(order: Order, config: AgentConfig) -> MpiConfig:
    if config.mpi is None:
        reason = (
            f"{order.workload} runs as one program over {len(order.gang)} nodes, but agent.toml of this node has no "
        )
        raise DeclinedError("no_mpi", f"{reason}[mpi]; add it (docs/mpi.md), or choose `program_per_node`")
    return config.mpi


def _own_address(order: Order, data_address: str | None) -> str:
    addresses = [node.address for node in order.gang]
    is_head = order.step_role is StepRole.HEAD
    expected = addresses[:1] if is_head else addresses[1:]
    if data_address is None or data_address not in expected:
        planned = ", ".join(expected) or "no address"
        reason = f"the run was planned for {planned} on this node, but its data_address is {data_address or 'unknown'}"
        raise DeclinedError("data_address_changed", f"{reason}; correct it in agent.toml, or submit the run again")
    if len(set(addresses)) != len(addresses):
        reason = f"two nodes of the run have the data_address {data_address}; give each node its own in agent.toml"
        raise DeclinedError("data_address_twice", reason)
    return data_address


def _check_head(order: Order, mpi: MpiConfig) -> None:
    """Raise DeclinedError for a head outside the networks of agent.toml, as it may start any program of that user."""
    head = order.gang[0]
    if mpi.heads and not is_within(head.address, mpi.heads):
        reason = f"the head {head.name} has the address {head.address}, which is not in {', '.join(mpi.heads)}"
        raise DeclinedError("head_not_allowed", f"{reason}; add its network to heads of [mpi] in agent.toml")


def _check_allowed(tool: str, mpi: MpiConfig) -> None:
    if not any(PurePosixPath(program).name == tool for program in mpi.programs):
        reason = f"agent.toml does not allow {tool} as a part of another node's run"
        raise DeclinedError("part_not_allowed", f"{reason}; add its path to programs of [mpi]")


def _interface(mpi: MpiConfig, address: str) -> str:
    return mpi.interface or interface_of(address) or ""

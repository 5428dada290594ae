"""Commands of `iotide-agent` for clusters whose runs are jobs of a batch system."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.batch.flux import Flux
from iotide_agent.batch.gateway import Gateway
from iotide_agent.batch.job import JobDriver
from iotide_agent.batch.lsf import Lsf
from iotide_agent.batch.pbs import Pbs
from iotide_agent.batch.slurm import Slurm
from iotide_agent.batch.system import BatchClient
from iotide_agent.core.calls import Speaker
from iotide_agent.core.clock import ServerClock
from iotide_agent.core.driver import AgentEnding
from iotide_agent.core.spool import Offer, Spool
from iotide_agent.core.transport import transport_of
from iotide_agent.node.config import AgentConfig, ConfigError, load_config
from iotide_agent.node.host import node_name
from iotide_agent.node.identity import Identity, load_identity
from iotide_agent.node.own_files import close_state
from iotide_agent.runner.processes import boot_id
from iotide_wire.batch import BatchSystem

CLIENTS: Final[dict[BatchSystem, type[BatchClient]]] = {
    BatchSystem.SLURM: Slurm,
    BatchSystem.LSF: Lsf,
    BatchSystem.PBS: Pbs,
    BatchSystem.FLUX: Flux,
}
_MAX_ID: Final = 2**63 - 1


@contextmanager
def held_state(config: AgentConfig) -> Iterator[tuple[Identity, Spool]]:
    close_state(config.state_directory)
    identity = load_identity(config.state_directory)
    spool = Spool(config.state_directory)
    spool.prepare()
    lock = spool.lock_agent()
    try:
        yield identity, spool
    finally:
        os.close(lock)


def speaker_of(identity: Identity, spool: Spool) -> Speaker:
    return Speaker(transport_of(identity), spool, ServerClock(), os.urandom(16).hex(), boot_id())


def work_as_gateway(config: AgentConfig) -> AgentEnding:
    """Raise ConfigError without `[batch]`."""
    if config.batch is None:
        systems = " or ".join(f'"{system}"' for system in CLIENTS)
        raise ConfigError("batch", None, f"name the batch system in agent.toml: [batch] with system = {systems}")
    with held_state(config) as (identity, spool), closing(transport_of(identity)) as transport:
        client = CLIENTS[config.batch.system](config.batch)
        return Gateway(client, transport, spool, os.urandom(16).hex(), boot_id(), config.broker_address).run()


def work_as_job(config: AgentConfig, offer: Offer | None) -> AgentEnding:
    with held_state(config) as (identity, spool):
        return JobDriver(config, identity.agent, spool, speaker_of(identity, spool), offer).run()


def config_of_node(path: Path | None) -> AgentConfig:
    return load_config(None if path is None else Path(str(path).replace("{node}", node_name())))


def offer_of(config: AgentConfig, fence: int, orders: list[str]) -> Offer:
    """Return this node's order from a job's NODE=ORDER arguments; raise ConfigError without one."""
    own = load_identity(config.state_directory).node_name
    numbers = dict(order.partition("=")[::2] for order in orders)
    number = numbers.get(own, "")
    if not number.isdecimal() or not (1 <= int(number) <= _MAX_ID and 1 <= fence <= _MAX_ID):
        raise ConfigError(
            "ORDERS", " ".join(orders), f'no order is for this node, "{own}"; check that it uses its own agent.toml'
        )
    return Offer(int(number), fence)


Fence = Annotated[int, typer.Argument(metavar="FENCE", help="Number of the attempt.")]
Orders = Annotated[list[str], typer.Argument(metavar="NODE=ORDER...", help="Order of each node.")]

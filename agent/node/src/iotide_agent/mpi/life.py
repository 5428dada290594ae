"""Life of an order of one program over several nodes."""

from iotide_agent.mpi.part import make_part
from iotide_agent.runner import life


def main(arguments: list[str]) -> int:
    """Take the arguments of `iotide_agent.runner.life`."""
    return life.main(arguments, make_part)

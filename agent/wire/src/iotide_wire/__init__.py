"""Messages between server and agents, the workload catalogue, units, facts and announced arithmetic."""

from iotide_wire.versions import WIRE_VERSION

__all__ = ["WIRE_VERSION"]

"""What the node on which this runs is called."""

import os
from typing import Final

_NODE_VARIABLES: Final = ("SLURMD_NODENAME",)
"""Where a batch system says on which of its nodes a process is; outside its jobs it says nothing."""


def node_name() -> str:
    """What the node's batch system calls it, or else the host's own short name."""
    named = next((os.environ[name] for name in _NODE_VARIABLES if os.environ.get(name)), None)
    return named or os.uname().nodename.split(".")[0]

"""MPI programs over all nodes of a gang, started without ssh: the start channel between runners.

The runner of one node, the head, starts the launcher. Its remote shell is `remote_start.py`, which asks that runner.
The runner asks the runner of the other node, a member, over TCP; the member starts the remote part as a load of its
own. Standard library alone, because runners use it. docs/mpi.md has the guarantees.
"""

from pathlib import Path
from typing import Final

REMOTE_START: Final = Path(__file__).with_name("remote_start.py")
"""Source of the program in the place of a remote shell."""

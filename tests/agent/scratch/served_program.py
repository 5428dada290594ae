"""Serves a socket as `iotide-scratch` does, for loop devices: served_program.py DIRECTORY IDLE_SECONDS."""

import socket
import sys
from pathlib import Path

from agent.scratch.loops import made_loops

from iotide_agent.scratch.service import Service


def main() -> None:
    directory = Path(sys.argv[1])
    with made_loops(directory) as loops, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        device = loops.add()
        loops.list_in("bays", [device], '[clients]\nnode02 = "10.0.0.2"\n')
        loops.adopt(device)
        path = directory / "scratch.sock"
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        Service(listening, loops.site, sys.stderr, float(sys.argv[2])).serve()


if __name__ == "__main__":
    main()

"""A node with a scratch set and an agent of a server outside the machine, until the host ends the machine.

Usage: python3 -m scratch.inside.node PORT REDIS-PORT JOIN-TOKEN DISKS. Starts the root program at a connection, as
systemd does.
"""

import os
import select
import socket
import subprocess
import sys
from multiprocessing import Process
from pathlib import Path
from typing import Final

from scratch.inside.forwarding import forward
from scratch.inside.program import start
from scratch.inside.rig import adopt, list_sets, prepare, run, use_rule

from iotide_agent.scratch.site import OWNER, SOCKET

NAME: Final = "storage01"
HOME: Final = Path("/srv/agent")
_OWN: Final = ("runuser", "-u", OWNER, "--")
_AGENT: Final = ("python3", "-c", "from iotide_agent.cli import start_agent; start_agent()")
_CARD: Final = "eth0"


def main() -> None:
    port, redis_port, token, disks = sys.argv[1:]
    prepare()
    use_rule()
    join_network()
    Process(target=forward, args=(int(port), int(redis_port)), daemon=True).start()
    devices = [f"serial-SCRATCH{number}" for number in range(int(disks))]
    list_sets({"bays": devices})
    for device in devices:
        adopt(device)
    with listening() as socket_:
        approved = HOME / "approved"
        approved.mkdir(parents=True)
        run("chown", "-R", f"{OWNER}:{OWNER}", str(HOME))
        config = HOME / "agent.toml"
        config.write_text(
            f'server = "http://127.0.0.1:{port}"\nnode_name = "{NAME}"\nrole = "compute"\n'
            f'state_directory = "{HOME}/state"\napproved_directories = ["{approved}"]\n'
        )
        run(*_OWN, *_AGENT, "enroll", "--config", str(config), "--join-token", token)
        agent = subprocess.Popen((*_OWN, *_AGENT, "run", "--config", str(config)))
        while agent.poll() is None:
            readable, _, _ = select.select([socket_], [], [], 1.0)
            if readable:
                os.waitpid(start(socket_, journal=2), 0)
    raise SystemExit(f"the agent ended with status {agent.returncode}")


def join_network() -> None:
    run("modprobe", "virtio_net")
    run("udevadm", "settle")
    run("ip", "link", "set", _CARD, "up")
    run("ip", "address", "add", "10.0.2.15/24", "dev", _CARD)


def listening() -> socket.socket:
    SOCKET.parent.mkdir(exist_ok=True)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    found.bind(str(SOCKET))
    SOCKET.chmod(0o660)
    run("chgrp", OWNER, str(SOCKET))
    found.listen()
    return found


if __name__ == "__main__":
    main()

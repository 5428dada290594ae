"""Node outside the containers: an agent of this machine that uses only the published ports."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from compose.stack import PROJECT, Stack

NODE: Final = "outside"
_STOP_SECONDS: Final = 30.0


@contextmanager
def outside_agent(stack: Stack, server: str) -> Iterator[Path]:
    """Enrol an agent by the join command's token and run it; return the directory that its runs may use."""
    agent = str(Path(sys.executable).with_name("iotide-agent"))
    with tempfile.TemporaryDirectory(prefix="iotide-outside-") as root:
        data = Path(root) / "data"
        data.mkdir(mode=0o700)
        config = Path(root) / "agent.toml"
        lines = {"node_name": NODE, "state_directory": f"{root}/state", "approved_directories": [str(data)]}
        config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()))
        token = stack.compose("exec", "-T", "api", "iotide-server", "join-token", "compose").split()[1]
        enroll = [agent, "enroll", "--config", str(config), "--server", server]
        subprocess.run(enroll, input=token, check=True, capture_output=True, text=True)
        log = Path(root) / "agent.log"
        with log.open("w") as out:
            process = subprocess.Popen([agent, "run", "--config", str(config)], stdout=out, stderr=subprocess.STDOUT)
        try:
            yield data
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)
            sys.stderr.write(f"{PROJECT}: the agent outside said\n{log.read_text()[-1500:]}")

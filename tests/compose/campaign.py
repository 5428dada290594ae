"""Test of the containers: loads the images of the release in dist/, starts its compose file, uses it from inside and
outside, breaks, restores and ends it. Then builds the images of docker-compose.yml from the checkout.

Usage: python tests/compose/campaign.py, with tests and deploy/demo on PYTHONPATH. Needs docker with compose;
some minutes. Exit status 0 when all checks passed, 1 when one failed, 2 when docker cannot be used.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from bring_up import free_port
from compose.campaigns import INSIDE, WORKLOADS, Campaigns
from compose.outside import NODE, outside_agent
from compose.restoring import restore_twice
from compose.stack import DIST, LOOPBACK, PROJECT, ROOT, Api, Stack, docker, wait_for

WORKS_AGAIN_SECONDS: Final = 30.0
"""After Redis came back empty."""
CHANGE_SECONDS: Final = 5.0
BUILT: Final = {
    "iotide-server": ("iotide-server", "--help"),
    "iotide-agent": ("iotide-agent", "--help"),
    "iotide-proxy": ("cat", "/srv/iotide/docs/index.html"),
}
"""A command of each image that docker-compose.yml builds. They have the parts of the release's images."""
LONG_RUNNING: Final = {"postgres", "redis", "api", "scheduler", "worker", "proxy", "agent"}


def check_confinement(stack: Stack) -> int:
    """Check the kernel's limits of each container's first process and the published ports; return the number of
    containers.

    Raises:
        SystemExit: names the failed check.
    """
    found = stack.containers()
    services = {container["Config"]["Labels"]["com.docker.compose.service"] for container in found}
    if services != LONG_RUNNING:
        raise SystemExit(f"these run: {sorted(services)}")
    for container in found:
        name = container["Name"]
        status = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{container['State']['Pid']}/status").read_text().splitlines()
            if ":\t" in line
        )
        uids, capabilities = status["Uid"].split(), int(status["CapBnd"], 16) | int(status["CapEff"], 16)
        if "0" in uids or capabilities or status["NoNewPrivs"] != "1":
            raise SystemExit(f"{name}: users {uids}, capabilities {capabilities:x}")
        if not container["HostConfig"]["ReadonlyRootfs"]:
            raise SystemExit(f"{name}: its root can be written")
        for bindings in container["NetworkSettings"]["Ports"].values():
            if any(binding["HostIp"] != LOOPBACK for binding in bindings or ()):
                raise SystemExit(f"{name}: published beyond loopback: {bindings}")
    return len(found)


def wipe_redis(stack: Stack) -> None:
    """Restart Redis without messages and node users."""
    stack.compose("rm", "--stop", "--force", "redis")
    docker("volume", "rm", f"{PROJECT}_redis")
    stack.compose("up", "--detach", "--wait", "redis")


def walk(stack: Stack) -> dict[str, Any]:
    """Check everything, from the images' files to two restores; return the numbers to print."""
    began_at = time.monotonic()
    for file in sorted((DIST / "images").glob("*.oci.tar")):
        docker("load", "--quiet", "--input", str(file))
    load_seconds = time.monotonic() - began_at
    began_at = time.monotonic()
    stack.compose("up", "--detach", "--wait", "--quiet-pull")
    up_seconds = time.monotonic() - began_at
    checked = check_confinement(stack)
    api = Api(stack.port, stack.authority())
    page, content_type = api.page("/")
    if "<title>" not in page or not content_type.startswith("text/html"):
        raise SystemExit(f"the proxy shows {content_type}: {page[:200]}")
    api.sign_in(stack.admin_link())
    change_seconds = api.seconds_to_first_change()
    if change_seconds > CHANGE_SECONDS:
        raise SystemExit(f"the first line of the change feed took {change_seconds:.1f} s: the proxy holds it back")
    campaigns = Campaigns(api)
    campaigns.target(INSIDE, "/data")
    campaigns.run(INSIDE, WORKLOADS, repeats=2)
    with outside_agent(stack, api.url) as data:
        campaigns.target(NODE, str(data))
        campaigns.run(NODE, WORKLOADS[:2], repeats=2)
        wipe_redis(stack)
        back_at = time.monotonic()
        campaigns.run(NODE, WORKLOADS[:1], repeats=1)
        works_again_seconds = time.monotonic() - back_at
        if works_again_seconds > WORKS_AGAIN_SECONDS:
            raise SystemExit(f"after Redis was wiped the agent outside took {works_again_seconds:.0f} s")
        before = campaigns.samples()
        stack.compose("restart", "postgres")
        wait_for("the API after PostgreSQL's restart", lambda: _is_ready(api), 60)
        if campaigns.samples() != before:
            raise SystemExit("samples are missing after PostgreSQL's restart")
        restored_seconds = restore_twice(stack, api, campaigns)
    return {
        "containers": checked,
        "campaigns": campaigns.count,
        "runs": campaigns.runs,
        "samples": len(campaigns.samples()),
        "load_seconds": round(load_seconds),
        "up_seconds": round(up_seconds),
        "change_seconds": round(change_seconds, 2),
        "after_redis_wiped_seconds": round(works_again_seconds, 1),
        "restored_seconds": "/".join(str(round(seconds)) for seconds in restored_seconds),
    }


def build_from_checkout() -> int:
    """Build the images of docker-compose.yml, and return how many seconds that took.

    Raises:
        SystemExit: a program in them does not start.
    """
    began_at = time.monotonic()
    docker("compose", "--file", str(ROOT / "docker-compose.yml"), "build", "--quiet")
    for image, command in BUILT.items():
        if not docker("run", "--rm", "--entrypoint", command[0], image, *command[1:]).strip():
            raise SystemExit(f"{image}: {' '.join(command)} printed nothing")
    return round(time.monotonic() - began_at)


def _is_ready(api: Api) -> bool:
    try:
        api.call("GET", "/ready")
    except (SystemExit, OSError):
        return False
    return True


def main() -> int:
    """Run all checks, then remove everything."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        print("test-compose: no Docker engine answers; install docker with compose and start it", file=sys.stderr)
        return 2
    began_at = time.monotonic()
    port = free_port(in_a_row=2)
    stack = Stack(port, port + 1)
    try:
        numbers = walk(stack)
        numbers["build_seconds"] = build_from_checkout()
    except (subprocess.CalledProcessError, SystemExit, OSError) as error:
        print(f"test-compose: {error}", file=sys.stderr)
        print(stack.compose("ps", "--all", check=False), stack.compose("logs", "--tail", "40", check=False))
        return 1
    finally:
        stack.compose("down", "--volumes", "--timeout", "20", check=False)
    left = stack.left()
    numbers |= {"left": len(left), "seconds": round(time.monotonic() - began_at)}
    print("test-compose:", " ".join(f"{name}={value}" for name, value in numbers.items()))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

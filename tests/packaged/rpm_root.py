"""The rpm, with Debian's rpm in a root directory: its files and scripts, not the dependencies of a distribution."""

import subprocess
from pathlib import Path

from packaged.debian_root import AGENT, CONFIG, PROGRAM, DebianRoot, PackageTestError, require

_DATABASE = "/var/lib/rpm-test"


def check_rpm(root: DebianRoot, packages: tuple[Path, Path]) -> str:
    """Install, verify, upgrade and erase; return the version of rpm.

    Raises:
        PackageTestError: The package does not do what it promises.
    """
    _rpm(root, "--install", packages[0])
    _rpm(root, "--verify", AGENT)
    require(root.user(AGENT) is not None, "rpm: the package made no user")
    state = root.path("/var/lib/iotide-agent")
    require(state.stat().st_mode & 0o7777 == 0o700, "rpm: the package made no private state directory")
    root.run(PROGRAM, "check", "--config", CONFIG, statuses=(0, 1))
    config = root.path(CONFIG)
    edited = f"{config.read_text()}# edited\n"
    config.write_text(edited)
    _rpm(root, "--upgrade", packages[1])
    require(config.read_text() == edited, f"rpm: the upgrade changed {CONFIG}")
    (state / "kept").touch()
    _rpm(root, "--erase", AGENT)
    require(not root.path("/usr/lib/iotide-agent").exists(), "rpm: erasing left /usr/lib/iotide-agent")
    kept = root.user(AGENT) is not None and (state / "kept").exists()
    require(kept, "rpm: erasing took the user or the state")
    saved = config.with_name("agent.toml.rpmsave")
    require(saved.exists() and saved.read_text() == edited, f"rpm: erasing took the edited {CONFIG}")
    version = subprocess.run(["rpm", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return f"yes, rpm {version}"


def _rpm(root: DebianRoot, action: str, subject: str | Path) -> None:
    command = ("rpm", "--root", root.root, "--dbpath", _DATABASE, "--nodeps", action, subject)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackageTestError(f"`{' '.join(map(str, command))}`:\n{done.stdout}{done.stderr}")

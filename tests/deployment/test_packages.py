"""Parts of the agent's packages that need no build; `./dev test-packages` tests the rest."""

import io
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from packages.agent_packages import settings
from packages.archives import pack
from packages.own_python import BuildError, built_python
from packages.program_tree import AGENT, SERVER, Contents, Product, elf_files, make_installable, starter, to_strip

from iotide_agent.setup.scratch import DISKS, RULES
from iotide_agent.setup.texts import (
    DROP_SERVICE_UNIT,
    DROP_SOCKET_UNIT,
    SCRATCH_SERVICE_UNIT,
    SCRATCH_SOCKET_UNIT,
    UNIT,
)
from iotide_server.setup import texts as server_texts
from iotide_wire.setup.services import UNITS

TOP = Path(__file__).resolve().parents[2]


def test_the_packaged_agent_toml_sets_nothing_and_every_setting_in_it_can_be_used() -> None:
    text = settings((TOP / "deploy/agent/agent.toml").read_text())
    assert tomllib.loads(text) == {}
    used = "\n".join(line.removeprefix("# ") for line in text.splitlines() if "=" in line or line.startswith("# ["))
    named = {line.partition(" = ")[0] for line in used.splitlines() if " = " in line}
    assert {"server", "approved_directories", "cache_drop_command", "run_as"} <= named


def test_a_program_finds_its_python_through_links_and_ignores_variables_of_another_python(tmp_path: Path) -> None:
    programs = tmp_path / "moved here/bin"
    programs.mkdir(parents=True)
    for name, text in {
        "python3": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        "iotide": starter(AGENT.programs["iotide"]),
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    link = tmp_path / "iotide"
    link.symlink_to(programs / "iotide")
    environment = {**os.environ, "PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere"}
    done = subprocess.run([link, "campaign", "--help"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "iotide campaign" in done.stdout


def test_an_archive_has_the_same_bytes_whatever_its_files_times_owners_and_masks(tmp_path: Path) -> None:
    archives = []
    for number, mask in enumerate((0o644, 0o600)):
        tree = tmp_path / f"tree-{number}"
        (tree / "bin").mkdir(parents=True)
        for name in ("b", "a") if number else ("a", "b"):
            (tree / "bin" / name).write_text(name)
            (tree / "bin" / name).chmod(mask)
        (tree / "bin/link").symlink_to("a")
        archive = tmp_path / f"{number}.tar"
        pack(tree, archive, "agent", seconds=7)
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as file:
        assert file.getnames() == ["agent", "agent/bin", "agent/bin/a", "agent/bin/b", "agent/bin/link"]
        assert {(member.uid, member.mtime) for member in file} == {(0, 7)}


def test_an_installable_tree_is_what_the_installer_verifies(tmp_path: Path) -> None:
    tree = tmp_path / "iotide-agent-1.2.3"
    program = tree / "bin/iotide-agent"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho started\n")
    program.chmod(0o755)
    make_installable(Contents(AGENT, TOP, tmp_path, tmp_path, "1.2.3", architecture=os.uname().machine), tree)
    prefix = tmp_path / "installed"
    subprocess.run([tree / "install.sh", "--prefix", prefix], check=True, capture_output=True)
    assert subprocess.check_output([prefix / "bin/iotide-agent"], text=True) == "started\n"
    program.write_text("#!/bin/sh\necho other\n")
    refused = subprocess.run([tree / "install.sh", "--prefix", prefix], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "the bundle is incomplete or damaged" in refused.stderr


def test_a_tree_of_another_architecture_is_not_installed(tmp_path: Path) -> None:
    tree = tmp_path / "iotide-agent-1.2.3"
    tree.mkdir()
    other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    make_installable(Contents(AGENT, TOP, tmp_path, tmp_path, "1.2.3", architecture=other), tree)
    refused = subprocess.run(
        [tree / "install.sh", "--prefix", tmp_path / "installed"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert f"this node is {os.uname().machine} but the bundle is for {other}" in refused.stderr


def test_only_programs_and_libraries_are_checked_for_their_c_library(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF\x02")
    (tmp_path / "link").symlink_to("program")
    (tmp_path / "text").write_text("ELF")
    assert list(elf_files(tmp_path)) == [tmp_path / "program"]


def test_a_changed_source_is_refused_with_the_remedy(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for name in ("python3.13_3.13.5.orig.tar.xz", "python3.13_3.13.5-2+deb13u5.debian.tar.xz"):
        (sources / name).write_text("changed")
    with pytest.raises(BuildError, match=r"orig\.tar\.xz has SHA-256 .*Remove it, and build again"):
        built_python(tmp_path)


def test_a_purge_of_the_server_removes_what_setup_writes() -> None:
    purge = (TOP / "deploy/packages/server/postrm").read_text()
    for path in (server_texts.STATE, server_texts.SETTINGS, UNITS / server_texts.UNIT):
        assert re.search(rf"rm .*{re.escape(str(path))}\b", purge)


def test_libraries_that_auditwheel_patched_are_not_stripped(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    for name in ("numpy/core.so", "numpy.libs/blas.so", "msgpack/packer.so"):
        file = packages / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"\x7fELF\x02")
    assert list(to_strip(tmp_path, packages)) == [packages / "msgpack/packer.so"]


@pytest.mark.parametrize(("product", "directory"), [(AGENT, "agent/node"), (SERVER, "backend")])
def test_every_program_is_packaged(product: Product, directory: str) -> None:
    project = tomllib.loads((TOP / directory / "pyproject.toml").read_text())["project"]
    assert (product.name, product.programs) == (project["name"], project["scripts"])


def test_a_purge_removes_every_unit_that_setup_writes() -> None:
    purge = (TOP / "deploy/packages/agent/postrm").read_text()
    written = {
        f"{UNIT}.d/10-setup.conf",
        DROP_SOCKET_UNIT,
        DROP_SERVICE_UNIT,
        SCRATCH_SOCKET_UNIT,
        SCRATCH_SERVICE_UNIT,
    }
    (listed,) = re.findall(r"(?s)for unit in (.*?); do", purge)
    assert set(listed.replace("\\\n", "").split()) == {*written, str(DISKS.relative_to(UNITS))}
    assert f"rm -f {RULES}\n" in purge

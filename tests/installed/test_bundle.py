"""Bundle for nodes without internet: made here, installed without any network, by a bare Python."""

import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

import pytest

OFFLINE: Final = Path(__file__).resolve().parents[2] / "deploy/offline"
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
NO_NETWORK: Final = ("unshare", "--net")
BAD_INPUT: Final = 2


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked bundle."""
    directory = tmp_path_factory.mktemp("bundle")
    subprocess.run(
        [OFFLINE / "make-bundle.sh", "--python", PYTHON, "--arch", os.uname().machine, directory / "agent.tar"],
        check=True,
    )
    with tarfile.open(directory / "agent.tar") as tar:
        tar.extractall(directory, filter="data")
    return next(path for path in directory.iterdir() if path.is_dir())


def install(bundle: Path, prefix: Path, *more: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run the installer without network, with the given interpreter, as an admin with a private umask."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHON": python, "HOME": "/nonexistent"}
    command: list[str | Path] = [*NO_NETWORK, bundle / "install.sh", "--prefix", prefix, *more]
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True, umask=0o077)


@pytest.fixture(scope="module")
def installed(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("node") / "agent"
    done = install(bundle, prefix)
    assert done.returncode == 0, done.stderr
    return prefix


def test_the_installed_agent_works_without_network(installed: Path) -> None:
    command: list[str | Path] = [*NO_NETWORK, installed / "bin/iotide-agent", "check", "--json"]
    checked = subprocess.run(command, check=False, capture_output=True, text=True, env={"HOME": "/nonexistent"})
    assert '"identity"' in checked.stdout, checked.stderr
    worker: list[str | Path] = [
        *NO_NETWORK,
        installed / "bin/python",
        "-c",
        "import iotide_agent.core.worker, redis, pydantic_core",
    ]
    subprocess.run(worker, check=True)


def test_it_uses_only_its_own_files(installed: Path) -> None:
    asked = "import iotide_agent, sys; print(iotide_agent.__file__); print(*sys.path, sep='\\n')"
    printed = subprocess.run([installed / "bin/python", "-P", "-c", asked], check=True, capture_output=True, text=True)
    own = installed.resolve()
    # By the link or its target: the program that made the environment decides which of them Python names.
    module, *searched = (Path(line).resolve() for line in printed.stdout.splitlines())
    assert module.is_relative_to(own)
    assert [path for path in searched if "site-packages" in path.parts and not path.is_relative_to(own)] == []


def test_the_agents_own_user_may_read_all_of_it(installed: Path) -> None:
    closed = [path for path in installed.resolve().rglob("*") if not path.stat().st_mode & stat.S_IROTH]
    assert closed == []


def test_a_second_installation_takes_the_place_of_the_first_in_one_step(bundle: Path, installed: Path) -> None:
    assert install(bundle, installed).returncode == 0
    assert installed.is_symlink()
    subprocess.run([installed / "bin/iotide-agent", "--help"], check=True, capture_output=True)


def test_a_bundle_that_was_changed_is_refused_and_installs_nothing(bundle: Path, tmp_path: Path) -> None:
    wheel = next((bundle / "wheels").glob("click-*.whl"))
    whole = wheel.read_bytes()
    try:
        wheel.write_bytes(whole[:-1])
        refused = install(bundle, tmp_path / "agent")
    finally:
        wheel.write_bytes(whole)
    assert (refused.returncode, list(tmp_path.iterdir())) == (BAD_INPUT, [])
    assert "the bundle is incomplete or damaged; copy it again" in refused.stderr


@pytest.mark.parametrize(
    ("more", "python", "sentence"),
    [
        (("--pefix", "/x"), sys.executable, "unknown option --pefix; see --help"),
        ((), "/nonexistent/python", "/nonexistent/python does not run"),
        (("--prefix", "relative"), sys.executable, "--prefix relative: give an absolute path"),
        (("--prefix", "/etc"), sys.executable, "/etc exists and was not created by this installer"),
    ],
)
def test_impossible_values_are_rejected_with_the_remedy(
    bundle: Path, tmp_path: Path, more: tuple[str, ...], python: str, sentence: str
) -> None:
    refused = install(bundle, tmp_path / "agent", *more, python=python)
    assert refused.returncode == BAD_INPUT
    assert sentence in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("agent.zip",), "give the name of the file to write, ending with .tar"),
        (("--python", "four", "agent.tar"), "--python four: give a version such as 3.11"),
        (("--arch", "m68k", "agent.tar"), "--arch m68k: give x86_64 or aarch64"),
    ],
)
def test_a_bundle_that_cannot_be_made_is_refused(arguments: tuple[str, ...], sentence: str) -> None:
    refused = subprocess.run([OFFLINE / "make-bundle.sh", *arguments], check=False, capture_output=True, text=True)
    assert refused.returncode == BAD_INPUT
    assert sentence in refused.stderr

"""Settings of `[mpi]`, and what `iotide-agent check` says about them."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from iotide_agent.node import readiness
from iotide_agent.node.config import ConfigError, parse_config
from iotide_agent.node.readiness import Finding, State
from iotide_agent.node.receiving import interface_of

PROXY = "/opt/mpich/bin/hydra_pmi_proxy"
MPI: dict[str, Any] = {"kind": "mpich", "launcher": ["/opt/mpich/bin/mpiexec"], "programs": [PROXY]}


def test_the_shipped_example_is_valid() -> None:
    text = (Path(__file__).parents[3] / "deploy/agent/agent.toml").read_text()
    begin = text.index("# [mpi]")
    example = "\n".join(line.removeprefix("# ") for line in text[begin : text.index("\n\n", begin)].splitlines())
    config = parse_config(tomllib.loads(example))
    assert config.mpi is not None
    assert config.mpi.environment == {"UCX_TLS": "tcp,self,sm"}


@pytest.mark.parametrize(
    ("changes", "field", "remedy"),
    [
        ({"kind": "lam"}, "mpi.kind", "'mpich', 'openmpi-4', 'openmpi-5' or 'intel'"),
        ({"launcher": []}, "mpi.launcher", "at least 1"),
        ({"launcher": ["mpiexec"]}, "mpi.launcher", "absolute path"),
        ({"programs": ["hydra_pmi_proxy"]}, "mpi.programs.0", "absolute path"),
        ({"programs": ["/opt/a/../hydra_pmi_proxy"]}, "mpi.programs.0", "absolute path"),
        ({"programs": ["/bin/sh", PROXY]}, "mpi", "remove sh"),
        ({"kind": "intel"}, "mpi", "add the path of hydra_bstrap_proxy"),
        ({"ports": "46000"}, "mpi.ports", "46000-46199"),
        ({"ports": "46000-46010"}, "mpi.ports", "at least 40 ports"),
        ({"heads": ["10.1.0.7/24"]}, "mpi.heads.0", "10.1.0.0/24"),
        ({"interface": "eth0; id"}, "mpi.interface", "match"),
        ({"environment": {"TMPDIR": "/scratch"}}, "mpi.environment", "remove TMPDIR"),
        ({"environment": {"IOTIDE_ATTEMPT": "1"}}, "mpi.environment", "remove IOTIDE_ATTEMPT"),
        ({"environment": {"A B": "1"}}, "mpi.environment.A B.[key]", "match"),
        ({"port": "46000-46199"}, "mpi.port", "the settings are kind, launcher, programs, ports"),
    ],
)
def test_a_wrong_setting_is_named_with_its_remedy(changes: dict[str, Any], field: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as mistake:
        parse_config({"mpi": {**MPI, **changes}})
    assert mistake.value.field == field
    assert remedy in mistake.value.remedy


def test_launcher_and_tasks_get_only_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOTIDE_TOKEN", "secret")
    mpi = parse_config({"mpi": {**MPI, "environment": {"LD_LIBRARY_PATH": "/opt/lib"}}}).mpi
    assert mpi is not None
    environment = mpi.load_environment("eth0")
    assert {"PATH", "LC_ALL", "LD_LIBRARY_PATH", "MPIEXEC_PORT_RANGE"} <= environment.keys()
    assert "secret" not in environment.values()
    assert environment.keys() - {"PATH", "LC_ALL", "LD_LIBRARY_PATH"} == {
        name for name in environment if name.startswith(("MPIEXEC_", "UCX_", "FI_"))
    }


def test_the_interface_of_an_address_is_found() -> None:
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("192.0.2.254") is None


def findings(tmp_path: Path, **changes: object) -> list[Finding]:
    settings = {"state_directory": str(tmp_path), "run_as": "root" if os.geteuid() == 0 else None}
    return [found for found in readiness.examine(parse_config({**settings, **changes})) if found.name == "mpi"]


def program(directory: Path, name: str) -> str:
    made = directory / name
    made.write_text("#!/bin/true\n")
    made.chmod(0o700)
    return str(made)


@pytest.fixture
def mpi(tmp_path: Path) -> dict[str, Any]:
    return {**MPI, "launcher": [program(tmp_path, "mpiexec")], "programs": [program(tmp_path, "hydra_pmi_proxy")]}


def test_a_node_without_the_setting_has_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path) == []


def test_a_node_that_other_nodes_reach_is_ready_and_its_ports_are_shown(tmp_path: Path, mpi: dict[str, Any]) -> None:
    (found,) = findings(tmp_path, mpi={**mpi, "interface": "lo"}, data_address="127.0.0.2")
    assert found.state is State.READY
    assert "TCP ports 46000-46199 on lo" in found.sentence


def test_a_loopback_address_is_a_limit(tmp_path: Path, mpi: dict[str, Any]) -> None:
    (found,) = findings(tmp_path, mpi=mpi)
    assert (found.state, "data_address" in str(found.remedy)) == (State.LIMITED, True)


def test_an_unknown_interface_is_named(tmp_path: Path, mpi: dict[str, Any]) -> None:
    (found,) = findings(tmp_path, mpi=mpi, data_address="127.0.0.2")
    assert (found.state, found.remedy) == (State.LIMITED, "set interface of [mpi] in agent.toml")
    (found,) = findings(tmp_path, mpi={**mpi, "interface": "eth99"}, data_address="127.0.0.2")
    assert (found.state, found.sentence) == (State.MISSING, "this node has no interface eth99")


def test_absent_and_exchangeable_programs_are_named_with_a_remedy(tmp_path: Path, mpi: dict[str, Any]) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    wanted = {**mpi, "launcher": ["/opt/none/mpiexec"], "programs": [program(open_to_all, "hydra_pmi_proxy")]}
    absent, exchangeable = findings(tmp_path, mpi=wanted)
    assert "/opt/none/mpiexec does not exist" in absent.sentence
    assert "could exchange" in exchangeable.sentence
    assert str(exchangeable.remedy).startswith("chmod go-w")
    assert {absent.state, exchangeable.state} == {State.MISSING}


def test_open_mpi_needs_a_short_state_directory(tmp_path: Path) -> None:
    settings = {
        "kind": "openmpi-5",
        "launcher": [program(tmp_path, "mpirun")],
        "programs": [program(tmp_path, "prted")],
        "interface": "lo",
    }
    deep = tmp_path / ("x" * 60)
    (found,) = findings(tmp_path, mpi=settings, data_address="127.0.0.2", state_directory=str(deep))
    assert (found.state, "at most 48 bytes" in str(found.remedy)) == (State.LIMITED, True)

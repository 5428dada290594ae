"""Dropping the page cache as an ordinary user, by the command of agent.toml, and the handling of its failures."""

import socket
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from agent.order_rig import Rig, step

from iotide_agent.node.config import parse_config
from iotide_agent.runner import caches

DEPLOY = Path(__file__).parents[3] / "deploy/agent"
FAILING = (("sh", "-c", "echo a password is required >&2; exit 1"), ("/absent/drop-caches",))


def test_the_command_of_agent_toml_is_run_before_each_step_that_wants_a_cold_cache(
    make_rig: Callable[..., Rig], tmp_path: Path
) -> None:
    record = tmp_path / "drops"
    rig = make_rig(drop_caches=True, drop_command=("sh", "-c", 'echo "$@" >>"$0"', str(record), "vm.drop_caches=3"))
    ending = rig.run([step("true", name="warm")], [step("true", name="cold", before="drop")])
    assert [done["before_done"] for done in ending["steps"]] == ["none", "drop"]
    assert record.read_text() == "vm.drop_caches=3\n"


@pytest.mark.parametrize("command", FAILING, ids=["refused", "absent"])
def test_if_the_command_fails_only_the_steps_files_are_dropped_and_the_step_reports_it(
    make_rig: Callable[..., Rig],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    monkeypatch.setattr(caches, "_DROP", tmp_path / "of-root-alone" / "drop_caches")
    card = make_rig(drop_caches=True, drop_command=command).card
    file = tmp_path / "data"
    file.write_bytes(b"x" * 4096)
    assert caches.prepare_caches("drop", card, [str(tmp_path)], [str(file)]) == "drop_files"
    assert caches.prepare_caches("drop", card, [str(tmp_path)], []) == "sync"
    if command is FAILING[0]:
        assert "a password is required" in capfd.readouterr().err


@pytest.mark.parametrize(("answer", "applied"), [(b"dropped\n", "drop"), (b"", "drop_files")])
def test_an_ordinary_user_asks_the_service_and_drops_its_own_files_if_that_fails(
    make_rig: Callable[..., Rig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, applied: str
) -> None:
    monkeypatch.setattr(caches, "_DROP", tmp_path / "of-root-alone" / "drop_caches")
    monkeypatch.setattr(caches, "DROP_SOCKET", tmp_path / "drop")
    file = tmp_path / "data"
    file.write_bytes(b"x" * 4096)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as service:
        service.bind(str(tmp_path / "drop"))
        service.listen()
        service.settimeout(10)

        def serve() -> None:
            with service.accept()[0] as connection:
                connection.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        card = make_rig(drop_caches=True).card
        assert caches.prepare_caches("drop", card, [str(tmp_path)], [str(file)]) == applied
        serving.join()


def test_a_permitted_agent_writes_to_the_kernel_that_pages_and_inodes_are_dropped(
    make_rig: Callable[..., Rig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "drop_caches"
    kernel.touch()
    monkeypatch.setattr(caches, "_DROP", kernel)
    assert caches.prepare_caches("drop", make_rig(drop_caches=True).card, [str(tmp_path)], []) == "drop"
    assert kernel.read_bytes() == b"3\n"


def test_the_sudo_rule_allows_exactly_the_command_of_the_sample() -> None:
    sudo, never_ask, *command = parse_config(tomllib.loads((DEPLOY / "agent.toml").read_text())).cache_drop_command
    assert (sudo, never_ask) == ("sudo", "-n")
    rules = [line for line in (DEPLOY / "iotide-agent.sudoers").read_text().splitlines() if not line.startswith("#")]
    # sudoers(5) requires a backslash before an equals sign in arguments.
    allowed = " ".join(command).replace("=", r"\=")
    assert rules == [f"iotide-agent ALL=(root) NOPASSWD: {allowed}"]

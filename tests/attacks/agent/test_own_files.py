"""Other users who try to change the agent's configuration or read its state."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from iotide_agent.node.config import ConfigError, load_config
from iotide_agent.node.own_files import StateOpenError, close_state


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration that only its owner can change."""
    (tmp_path / "etc").mkdir(mode=0o755)
    file = tmp_path / "etc" / "agent.toml"
    file.write_text("slots = 3\n")
    file.chmod(0o644)
    return file


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return the state directory of an enrolled node."""
    directory = tmp_path / "state"
    directory.mkdir(mode=0o700)
    (directory / "identity.json").touch(mode=0o600)
    return directory


def test_configuration_that_others_may_read_and_only_root_may_change_is_obeyed(config: Path) -> None:
    assert load_config(config).slots == 3
    link = config.with_name("link")
    link.symlink_to(config)
    assert load_config(link).slots == 3


@pytest.mark.parametrize(
    ("open_up", "remedy"),
    [
        (lambda file: file.chmod(0o664), "has mode 0664, so other users could change it; chmod go-w"),
        (lambda file: file.chmod(0o646), "has mode 0646, so other users could change it; chmod go-w"),
        (lambda file: file.parent.chmod(0o777), "so other users could exchange its content; chmod go-w {parent}"),
        (lambda file: os.chown(file, 12345, -1), "belongs to user 12345, who could change it; chown root"),
        (
            lambda file: os.chown(file.parent, 12345, -1),
            "{parent} belongs to user 12345, who could exchange its content; chown 0 {parent}",
        ),
    ],
)
@pytest.mark.parametrize("by_link", [False, True])
def test_configuration_that_others_could_change_is_refused_with_the_remedy(
    config: Path, open_up: Callable[[Path], None], remedy: str, *, by_link: bool
) -> None:
    named = config
    if by_link:
        named = config.parents[1] / "link.toml"
        named.symlink_to(config)
    open_up(config)
    with pytest.raises(ConfigError) as refused:
        load_config(named)
    assert remedy.format(parent=config.parent) in str(refused.value)


def test_link_to_the_configuration_in_a_directory_that_is_open_to_others_is_refused(config: Path) -> None:
    shared = config.parents[1] / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "agent.toml").symlink_to(config)
    with pytest.raises(ConfigError, match="other users could exchange"):
        load_config(shared / "agent.toml")


def test_state_directory_is_closed_before_anything_is_written_to_it(state: Path) -> None:
    state.chmod(0o755)
    close_state(state)
    assert state.stat().st_mode & 0o777 == 0o700
    close_state(state.with_name("absent"))


def test_state_directory_of_another_user_is_refused(state: Path) -> None:
    os.chown(state, 12345, -1)
    with pytest.raises(StateOpenError, match="belongs to user 12345; run the agent as that user"):
        close_state(state)


@pytest.mark.parametrize("name", ["identity.json", "identity-next.json"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_token_that_others_may_read_is_refused_with_the_remedy(state: Path, mode: int, name: str) -> None:
    (state / name).touch()
    (state / name).chmod(mode)
    with pytest.raises(StateOpenError, match="chmod 600 it; if another user may have read it, retire the node"):
        close_state(state)


def test_link_in_the_place_of_the_token_is_refused(state: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch(mode=0o600)
    (state / "identity.json").unlink()
    (state / "identity.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateOpenError):
        close_state(state)

"""Errors in agent.toml: each names the field, its value and the remedy."""

from pathlib import Path

import pytest

from iotide_agent.node.config import ConfigError, load_config, parse_config
from iotide_wire.messages import NodeRole


def test_everything_has_a_default_but_nothing_is_approved() -> None:
    config = parse_config({})
    assert config.approved_directories == ()
    assert config.role is NodeRole.COMPUTE


@pytest.mark.parametrize(
    ("values", "field", "remedy"),
    [
        ({"approved_directories": ["scratch"]}, "approved_directories.0", "absolute path"),
        ({"approved_directories": ["/mnt/../etc"]}, "approved_directories.0", "without '..'"),
        ({"approved_directories": ["/"]}, "approved_directories.0", "root directory cannot be approved"),
        ({"state_directory": "state"}, "state_directory", "absolute path"),
        ({"node_name": "a b"}, "node_name", "match pattern"),
        ({"role": "both"}, "role", "'compute', 'storage' or 'gateway'"),
        ({"server": "example.org"}, "server", "match pattern"),
        ({"broker_address": "redis"}, "broker_address", "host:port"),
        ({"broker_address": "user@redis:6379"}, "broker_address", "host:port"),
        ({"broker_address": "redis:65536"}, "broker_address", "host:port"),
        ({"slots": 0}, "slots", "greater than or equal to 1"),
        ({"aproved_directories": []}, "aproved_directories", "approved_directories"),
        ({"quiet": {"cpu": 0.5}}, "quiet.cpu", "the settings are cpu_ratio, tasks_per_processor"),
        ({"quiet": {"cpu_ratio": 50}}, "quiet.cpu_ratio", "less than or equal to 1"),
    ],
)
def test_a_mistake_is_named(values: dict[str, object], field: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as mistake:
        parse_config(values)
    assert mistake.value.field == field
    assert remedy in mistake.value.remedy


def test_the_deepest_directory_says_how_a_target_is_remounted() -> None:
    config = parse_config({"remount_command": {"/mnt": ["remount-all"], "/mnt/fast": ["sudo", "remount-fast"]}})
    assert config.remount_command_at("/mnt/fast/bench") == ("sudo", "remount-fast")
    assert config.remount_command_at("/mnt/fastest") == ("remount-all",)
    assert config.remount_command_at("/scratch") == ()


def test_a_file_that_is_named_must_exist_and_be_toml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "agent.toml")
    (tmp_path / "agent.toml").write_text("approved_directories = [")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_config(tmp_path / "agent.toml")


def test_the_default_file_may_be_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOTIDE_AGENT_CONFIG", str(tmp_path / "agent.toml"))
    monkeypatch.setenv("IOTIDE_AGENT_STATE", str(tmp_path / "state"))
    assert load_config(None).state_directory == tmp_path / "state"

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories.metrics import Scraped

from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import Stage
from iotide_agent.node.config import ConfigError, parse_config
from iotide_agent.node.textfile import BUSY_SECONDS, IDLE_SECONDS, AgentFacts, Textfile, exposition

FACTS = AgentFacts(
    node="n1",
    version="0.1.0",
    is_up=True,
    started_seconds=1.0e9,
    is_connected=False,
    last_contact_seconds=1_700_000_000.25,
    clock_offset_seconds=-0.5,
    stages=[Stage.RUNNING, Stage.UPLOADING, Stage.UPLOADING],
    spool_bytes=4096,
    worker_starts=3,
    deaf_restarts=1,
)


def test_prometheus_parses_it_and_finds_what_the_agent_knows() -> None:
    scraped = Scraped(exposition(FACTS))
    assert scraped.labels("iotide_agent_info") == {"node": "n1", "version": "0.1.0"}
    assert scraped.value("iotide_agent_last_contact_timestamp_seconds") == 1_700_000_000.25
    assert scraped.value("iotide_agent_clock_offset_seconds") == -0.5
    assert (scraped.value("iotide_agent_up"), scraped.value("iotide_agent_connected")) == (1, 0)
    stages = scraped.by("stage", "iotide_agent_orders")
    assert (stages["running"], stages["uploading"], stages["preparing"]) == (1, 2, 0)
    assert scraped.value("iotide_agent_worker_deaf_restarts_total") == 1


def test_unknown_values_are_omitted_rather_than_zero() -> None:
    scraped = Scraped(exposition(replace(FACTS, last_contact_seconds=None, clock_offset_seconds=None)))
    assert not {"iotide_agent_last_contact_timestamp_seconds", "iotide_agent_clock_offset_seconds"} & scraped.names


def test_a_name_with_quotes_breaks_no_line() -> None:
    assert Scraped(exposition(replace(FACTS, node='a"b\\c\nd'))).labels("iotide_agent_info")["node"] == 'a"b\\c\nd'


def test_during_a_run_it_is_written_seldom_and_at_once_when_an_order_comes_or_goes(tmp_path: Path) -> None:
    file = Textfile(tmp_path / "iotide.prom")
    assert file.is_due(0.0, ())
    file.write(FACTS, 0.0)
    assert not file.is_due(IDLE_SECONDS - 1, ())
    assert file.is_due(IDLE_SECONDS, ())
    held = ((7, Stage.PREPARING),)
    assert file.is_due(1.0, held)
    file.write(FACTS, 1.0, held)
    assert not file.is_due(1.0 + IDLE_SECONDS, ((7, Stage.RUNNING),)), "a stage alone is not worth a write"
    assert file.is_due(1.0 + BUSY_SECONDS, ((7, Stage.RUNNING),))
    assert file.is_due(2.0, ())


def test_it_is_replaced_as_a_whole_and_readable_by_others(tmp_path: Path) -> None:
    file = Textfile(tmp_path / "iotide.prom")
    with (tmp_path / "iotide.prom").open("w+") as opened:
        opened.write("old")
        opened.flush()
        file.write(FACTS, 0.0)
        opened.seek(0)
        assert opened.read() == "old", "a reader of the replaced file reads the old one to its end"
    assert Scraped(file.path.read_text()).value("iotide_agent_spool_bytes") == 4096
    assert file.path.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["iotide.prom"]


def test_a_missing_directory_is_reported_once_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = Textfile(tmp_path / "gone" / "iotide.prom")
    for now in (0.0, 20.0):
        file.write(FACTS, now)
    assert [record.getMessage().split()[0] for record in caplog.records] == ["metrics_not_written"]


@pytest.mark.parametrize("path", ["iotide.prom", "/run/iotide.txt"])
def test_a_path_that_node_exporter_would_not_read_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.prom"):
        parse_config({"metrics_textfile": path})


def test_the_clock_s_offset_is_by_the_answer_that_took_the_shortest_way() -> None:
    clock = ServerClock()
    assert clock.reading(0.0, 0.0) is None
    clock.learn(datetime.fromtimestamp(1000.0, UTC), 10.0, 14.0)
    clock.learn(datetime.fromtimestamp(1010.0, UTC), 22.0, 22.0)
    # The node's own clock shows 985 when its boot clock shows 24; the server's shows 1012.
    reading = clock.reading(985.0, 24.0)
    assert reading is not None
    assert reading.offset_seconds == pytest.approx(-27.0)

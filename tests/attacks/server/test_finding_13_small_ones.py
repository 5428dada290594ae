"""Finding 13 of the security review: a run that ended tomorrow, a restore without a message, an unknown user."""

import os
import signal
import stat
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import psycopg
import pytest
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site
from services import temporary_state

from iotide_server.agent_api.times import plausible, with_plausible_times
from iotide_server.backup.clients import Clients, choose_clients
from iotide_server.backup.errors import POSTGRES_CLIENT_FAILED
from iotide_server.bundled import StartError
from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.bundled.privileges import Account
from iotide_server.bundled.state import StateDirectory
from iotide_server.kit.errors import ConflictError
from iotide_wire.messages import OrderState

LASTED: Final = timedelta(seconds=5)
UNKNOWN_UID: Final = 54_321


def started(site: Site, said: datetime) -> tuple[SimulatedAgent, Offered]:
    site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    site.clock.move(10)
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=said + timedelta(seconds=10))
    return agent, offer


@pytest.mark.parametrize("jump", [timedelta(days=3 * 365), timedelta(days=-54 * 365), timedelta(hours=-10)])
def test_a_run_with_a_clock_jump_ends_when_its_result_arrived(plant: Site, jump: timedelta) -> None:
    begun = plant.clock() + timedelta(seconds=10)
    agent, offer = started(plant, plant.clock())
    plant.clock.move(6)
    agent.hand_in(offer, agent.result(offer, started_at=begun, ended_at=begun + LASTED + jump))
    run = plant.run(offer.run_id)
    assert (run.started_at, run.ended_at) == (begun, plant.clock())
    assert [flag["code"] for flag in run.flags] == ["NODE_TIME"]


@pytest.mark.parametrize("off", [timedelta(days=3 * 365), timedelta(days=-54 * 365)])
def test_a_run_on_a_clock_that_is_years_off_is_shown_as_long_as_it_lasted(plant: Site, off: timedelta) -> None:
    offered_at = plant.clock()
    agent, offer = started(plant, plant.clock() + off)
    plant.clock.move(60)
    begun = offered_at + off + timedelta(seconds=10)
    agent.hand_in(offer, agent.result(offer, started_at=begun, ended_at=begun + LASTED))
    run = plant.run(offer.run_id)
    assert run.started_at is not None
    assert offered_at <= run.started_at <= offered_at + timedelta(seconds=10)
    assert run.ended_at == run.started_at + LASTED


def test_a_clock_that_was_set_right_in_between_shows_no_run_that_ends_before_it_starts(plant: Site) -> None:
    agent, offer = started(plant, plant.clock() + timedelta(days=400))
    plant.clock.move(6)
    begun = plant.clock() + timedelta(days=400)
    agent.hand_in(offer, agent.result(offer, started_at=begun, ended_at=plant.clock()))
    run = plant.run(offer.run_id)
    assert run.started_at is not None
    assert run.ended_at is not None
    assert run.started_at <= run.ended_at <= plant.clock()


def test_times_within_a_day_are_the_nodes_own(plant: Site) -> None:
    now = plant.clock()
    offered_at = now - timedelta(hours=1)
    for said in (offered_at - timedelta(hours=23), now, now + timedelta(hours=23)):
        assert plausible(said, offered_at, now) == said
    assert plausible(offered_at - timedelta(days=2), offered_at, now) == offered_at
    assert plausible(now + timedelta(days=2), offered_at, now) == now
    agent, offer = started(plant, now)
    result = agent.result(offer, started_at=now, ended_at=now + LASTED)
    assert with_plausible_times(result, now, offered_at, now) is result


def test_a_damaged_dump_is_rejected_with_its_readers_message(migrated_url: str, empty: str, tmp_path: Path) -> None:
    clients, dump = _dump(migrated_url, tmp_path)
    whole = dump.read_bytes()
    refused = []
    for at_ratio in (0.0, 0.001, 0.02, 0.1, 0.3, 0.7, 0.99):
        content, at = bytearray(whole), int(len(whole) * at_ratio)
        content[at : at + 64] = bytes(255 - byte for byte in content[at : at + 64])
        dump.write_bytes(content)
        try:
            clients.load(empty, dump)
        except ConflictError as error:
            refused.append(error.message)
    words = [message.partition("failed:\n")[2] for message in refused]
    assert len(words) > 3  # some bytes of a dump have no effect
    assert [one for one in words if not one.startswith(("pg_restore: ", "it was killed by "))] == []


def test_a_silent_crash_of_the_dumps_reader_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "pg_restore"
    program.write_text(f"#!/bin/sh\nkill -{signal.SIGSEGV.value} $$\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with raised(POSTGRES_CLIENT_FAILED) as refused:
        Clients(tmp_path, 15).load("postgresql://nobody@127.0.0.1:1/none", tmp_path / "dump")
    assert (
        refused.value.message
        == "pg_restore 15 failed:\nit was killed by SIGSEGV without output; the dump may be damaged"
    )
    program.write_text("#!/bin/sh\nexit 3\n")
    with raised(POSTGRES_CLIENT_FAILED, match="it exited with status 3 without output"):
        Clients(tmp_path, 15).load("postgresql://nobody@127.0.0.1:1/none", tmp_path / "dump")


def test_up_for_an_unknown_user_gives_the_remedy() -> None:
    with temporary_state() as state:
        unknown = Account(name=str(UNKNOWN_UID), uid=UNKNOWN_UID, gid=UNKNOWN_UID)
        if os.geteuid() == 0:
            for path in (state.root, *state.root.rglob("*")):
                os.chown(path, UNKNOWN_UID, UNKNOWN_UID)
        of_unknown: StateDirectory = replace(state, account=unknown)
        with pytest.raises(StartError) as refused:
            prepare_postgres(of_unknown)
    assert f"The services run as user {UNKNOWN_UID}" in str(refused.value)
    assert f"useradd --system --no-create-home --uid {UNKNOWN_UID} iotide" in refused.value.remedy
    assert "--database-url" in refused.value.remedy


def _dump(database_url: str, directory: Path) -> tuple[Clients, Path]:
    dump = directory / "database.dump"
    with psycopg.connect(database_url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        clients = choose_clients(at_least=connection.info.server_version // 10_000)
        (snapshot,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        clients.dump(database_url, snapshot, dump)
    return clients, dump

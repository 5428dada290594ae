from collections.abc import Callable
from pathlib import Path

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.campaigns.models import Cell
from iotide_server.kit.db import Database, Json
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.units import MIB

FILES = [64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB]
RECORDS = [MIB, 4 * MIB]
MEMORY = {"memory.total_bytes": 256 * MIB}
CAPTURE = Path(__file__).parents[2] / "data/iozone/a_g16m.stdout"


def matrix(scale: float = 1.0, operation: str = "read", files: list[int] = FILES) -> list[SampleMessage]:
    """Values of one run: 900 bytes/s while files fit into memory, 90 beyond it, slightly more with large records."""
    return [
        sample(
            scale * (900.0 if file < 256 * MIB else 90.0) * (1.1 if record > MIB else 1.0),
            operation=operation,
            file_size_bytes=file,
            record_size_bytes=record,
        )
        for file in files
        for record in RECORDS
    ]


def measure(measured: Measured, scales: tuple[float, ...], files: list[int] = FILES) -> tuple[Cell, list[int]]:
    """Make a cell with a run for each scale; return the ids of its runs."""
    cell = measured.cell()
    results = [finish(NOW, *matrix(scale, files=files), environment=MEMORY) for scale in scales]
    runs = [measured.deliver(cell, result, minutes=minute) for minute, result in enumerate(results)]
    return cell, [run.id for run in runs]


def ask(client: TestClient, person: Person, **query: str) -> tuple[int, Json]:
    answer = client.get("/api/v1/surface", params=query, headers=person.headers)
    return answer.status_code, answer.json()


def shown(client: TestClient, person: Person, **query: str) -> Json:
    status, found = ask(client, person, **query)
    assert status == 200, found
    return found


SCALES = (1.0, 1.01, 0.99, 1.005)


def test_a_campaign_has_a_cell_for_each_pair_of_sizes_with_range_runs_and_its_cliff(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        cell, runs = measure(Measured(session, NOW), SCALES)
    found = shown(client, admin, a=f"campaign-{cell.campaign_id}")
    assert (found["file_sizes_bytes"], found["record_sizes_bytes"]) == (FILES, RECORDS)
    assert (found["operations"], found["operation"], found["b"], found["differences"]) == (["read"], "read", None, None)
    first = found["a"]["cells"][0][0]
    assert (first["n"], first["run_ids"], first["flags"]) == (4, runs, [])
    assert [first["low"], first["median"], first["high"]] == pytest.approx([891.0, 902.25, 909.0])
    (cliff,) = found["a"]["cliffs"]
    assert (cliff["axis"], cliff["last_bytes"], cliff["first_bytes"]) == ("file_size", 128 * MIB, 256 * MIB)
    assert (cliff["at_bytes"], cliff["of"], cliff["suits"]) == (RECORDS, 2, ["memory.total_bytes of node1 (256 MiB)"])
    assert cliff["words"].startswith("Drop between file sizes of 128 MiB and 256 MiB: to 10 % (")
    ending = ") at 2 of 2 record sizes. Possible cause: memory.total_bytes of node1 (256 MiB)."
    assert cliff["words"].endswith(ending)
    assert found["a"]["caches"] == [{"name": "memory.total_bytes of node1", "size_bytes": 256 * MIB}]


def test_two_sources_have_a_difference_only_where_both_were_measured(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        a, _ = measure(measured, SCALES)
        b, _ = measure(measured, tuple(1.2 * one for one in SCALES), files=[*FILES[1:], 1024 * MIB])
    found = shown(client, admin, a=f"campaign-{a.campaign_id}.1", b=f"campaign-{b.campaign_id}")
    rows = found["differences"]
    assert [[cell is None for cell in row] for row in rows] == [[True] * 2, *[[False] * 2] * 3, [True] * 2]
    cell = rows[1][0]
    assert (cell["verdict"], cell["is_discovery"]) == ("higher", True)
    assert cell["ratio"] == pytest.approx(1.2, rel=0.02)
    assert cell["low"] < cell["ratio"] < cell["high"]
    assert cell["difference"] == pytest.approx(0.2 * 902.25)
    assert found["a"]["cells"][4] == [None, None]
    assert [one["file_size_bytes"] for one in found["only_a"]] == [FILES[0]] * 2
    assert [one["file_size_bytes"] for one in found["only_b"]] == [1024 * MIB] * 2
    assert found["unlike"] == []


def test_single_runs_are_surfaces_too_of_which_no_difference_is_claimed(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        _, runs = measure(Measured(session, NOW), (1.0, 1.2))
    found = shown(client, admin, a=f"run-{runs[0]}", b=f"run-{runs[1]}")
    cell = found["differences"][0][0]
    assert (cell["verdict"], cell["ratio"], cell["is_discovery"]) == ("one_run", None, False)
    assert cell["median_ratio"] == pytest.approx(1.2)
    assert (found["a"]["run_id"], found["a"]["run_count"], found["a"]["cells"][0][0]["run_ids"]) == (
        runs[0],
        1,
        [runs[0]],
    )


def test_cells_that_sweep_both_sizes_are_one_surface_and_other_options_another_part(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        for direct in (False, True):
            for file in FILES[:2]:
                for block in RECORDS:
                    cell = measured.cell(campaign, file_size_bytes=file, block_size_bytes=block, direct=direct)
                    measured.deliver(cell, finish(NOW, sample(float(block), operation="write")))
    name = f"campaign-{campaign.id}"
    found = shown(client, admin, a=name)
    assert [part["source"] for part in found["a"]["parts"]] == [f"{name}.1.2.3.4", f"{name}.5.6.7.8"]
    assert found["a"]["source"] == f"{name}.1.2.3.4"
    other = shown(client, admin, a=name, b=f"{name}.5.6.7.8")
    assert other["unlike"] == [{"name": "options.direct", "a": False, "b": True}]
    listed = client.get("/api/v1/surface-sources", headers=admin.headers).json()["items"]
    assert [one["source"] for one in listed] == [name]


def test_the_newest_cells_of_each_place_are_listed_to_those_who_may_see_them(
    client: TestClient, admin: Person, make_person: Callable[..., Person], database: Database
) -> None:
    with database.transaction() as session:
        cell, runs = measure(Measured(session, NOW), (1.0, 1.0))
    (one,) = client.get("/api/v1/surface-sources", headers=admin.headers).json()["items"]
    assert (one["source"], one["run_ids"]) == (f"campaign-{cell.campaign_id}.1", runs)
    assert (one["node_names"], one["target_names"], one["workload"]) == (["node1"], ["scratch"], "dd")
    with database.transaction() as session:
        other = Measured(session, NOW, name="other").cluster.id
    stranger = make_person("mallory", "viewer", other)
    assert client.get("/api/v1/surface-sources", headers=stranger.headers).json()["items"] == []
    assert ask(client, stranger, a=one["source"])[0] == 404
    assert ask(client, stranger, a=f"run-{runs[0]}")[0] == 404


def test_a_run_of_which_flags_left_one_record_size_is_not_listed(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell, _ = measure(measured, (1.0,))
        too_short = Flag(
            code=FlagCode.DURATION,
            effect=FlagEffect.REJECTED,
            measured="8 us",
            limit="at least 100 us",
            labels={"record_size_bytes": RECORDS[0]},
        )
        measured.deliver(measured.cell(direct=True), finish(NOW, *matrix(), flags=(too_short,)))
    (one,) = client.get("/api/v1/surface-sources", headers=admin.headers).json()["items"]
    assert one["source"] == f"campaign-{cell.campaign_id}.1"


@pytest.mark.parametrize(
    ("query", "status", "code", "field"),
    [
        ({"a": "run-999"}, 404, "run_not_found", None),
        ({"a": "campaign-999"}, 404, "campaign_not_found", None),
        ({"a": "everything"}, 422, "invalid_input", "a"),
        ({"a": "run-99999999999999999999"}, 422, "invalid_input", "a"),
        ({"b": "{name}.7"}, 404, "cell_not_found", "b"),
        ({"operation": "stat"}, 422, "operation_not_measured", "operation"),
        ({"metric": "wait"}, 422, "metric_not_measured", "metric"),
    ],
)
def test_a_request_that_is_no_surface_is_refused_by_name(
    client: TestClient,
    admin: Person,
    database: Database,
    query: dict[str, str],
    status: int,
    code: str,
    field: str | None,
) -> None:
    with database.transaction() as session:
        cell, _ = measure(Measured(session, NOW), (1.0,))
    name = f"campaign-{cell.campaign_id}"
    asked = {"a": name} | {key: value.format(name=name) for key, value in query.items()}
    answer, found = ask(client, admin, **asked)
    assert (answer, found["error"]["code"]) == (status, code)
    assert field in {None, found["error"]["field"]}
    assert found["error"]["remedy"]


def test_a_run_of_one_size_has_no_surface_and_names_what_has(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        run = measured.deliver(measured.cell(), finish(NOW, sample(1.0, operation="write")))
    status, found = ask(client, admin, a=f"run-{run.id}")
    assert (status, found["error"]["code"]) == (422, "no_surface")
    assert "iozone in auto mode" in found["error"]["remedy"]


def test_absent_cells_of_a_captured_iozone_are_null_and_none_is_zero(
    client: TestClient, admin: Person, database: Database
) -> None:
    rows = [[int(part) for part in line.split()] for line in CAPTURE.read_text().splitlines() if _is_row(line)]
    samples = [
        sample(row[2] * 1024.0, operation="write", file_size_bytes=row[0] * 1024, record_size_bytes=row[1] * 1024)
        for row in rows
    ]
    with database.transaction() as session:
        measured = Measured(session, NOW)
        run = measured.deliver(measured.cell(), finish(NOW, *samples))
    found = shown(client, admin, a=f"run-{run.id}")
    cells = found["a"]["cells"]
    present = [cell for row in cells for cell in row if cell]
    assert (len(cells), len(cells[0]), len(present)) == (9, 13, len(rows))
    assert min(cell["low"] for cell in present) > 0
    # A record is never larger than its file.
    for file, row in zip(found["file_sizes_bytes"], cells, strict=True):
        assert [cell is None for cell in row] == [record > file for record in found["record_sizes_bytes"]]


def _is_row(line: str) -> bool:
    parts = line.split()
    return len(parts) > 2 and all(part.isdigit() for part in parts)


def test_a_size_that_no_run_could_measure_stays_with_the_reason(
    client: TestClient, admin: Person, database: Database
) -> None:
    tiny = 2 * MIB
    short = Flag(
        code=FlagCode.DURATION,
        effect=FlagEffect.REJECTED,
        measured="64 MiB took 2 us",
        limit="1000 ticks of a clock",
        labels={"file_size_bytes": FILES[0], "record_size_bytes": RECORDS[0]},
    )
    untimed = Flag(
        code=FlagCode.TOO_FAST,
        effect=FlagEffect.MARKED,
        measured="iozone prints 0 for 2 cells",
        limit="more than 1 KiB/s",
        labels={"operation": "read", "file_size_bytes": tiny},
    )
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        measured.deliver(cell, finish(NOW, *matrix(), flags=(short, untimed)))
    found = shown(client, admin, a=f"campaign-{cell.campaign_id}")
    assert found["file_sizes_bytes"] == [tiny, *FILES]
    assert found["a"]["cells"][0] == [None, None]
    assert found["a"]["cells"][1][0] is None
    assert [(one["file_size_bytes"], one["record_size_bytes"], one["flag"]) for one in found["a"]["unmeasured"]] == [
        (tiny, RECORDS[0], "TOO_FAST"),
        (tiny, RECORDS[1], "TOO_FAST"),
        (FILES[0], RECORDS[0], "DURATION"),
    ]

"""Reports as PDF, printed by a real Chromium from the built dashboard."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final, cast
from unicodedata import normalize

import pytest
from access.requests import REQUESTS
from browsers import chromium
from factories.announced import NOW
from factories.clock import MovedClock
from factories.measured import Measured, finish, sample
from factories.people import Person, person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pypdf import PdfReader
from sqlalchemy import func, select

from iotide_server.accounts.models import ApiToken, AuditEntry, Role, UserSession
from iotide_server.accounts.sessions import service as sessions
from iotide_server.campaigns.models import CellTarget
from iotide_server.kit.db import Database
from iotide_server.main import API, create_app
from iotide_server.printing import printer
from iotide_server.printing.printer import PRINTER, Printer, find_chromium
from iotide_server.settings import Settings
from iotide_server.targets.models import Target
from iotide_server.trends.points.service import recompute_points

DIST: Final = Path(__file__).parents[3] / "frontend/dist"
SPEEDS: Final = {"ext4": [100.0, 101.0, 99.0, 100.5, 98.5], "xfs": [120.0, 121.0, 119.0, 120.5, 118.5]}
PUBLIC_URL: Final = "https://bench.example.org"


@pytest.fixture
def campaign_id(database: Database) -> int:
    """A campaign on two file systems; xfs is 20 % faster."""
    plan = REQUESTS[f"POST {API}/campaigns"].body
    assert plan is not None
    with database.transaction() as session:
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        campaign.plan = cast("dict[str, Any]", plan({}))
        for name, values in SPEEDS.items():
            target = Target(cluster_id=measured.cluster.id, name=name, path=f"/{name}", scope="node")
            cell = measured.cell(campaign)
            session.add(target)
            session.flush()
            session.query(CellTarget).filter_by(cell_id=cell.id).update({"target_id": target.id})
            for minutes, value in enumerate(values):
                measured.deliver(cell, finish(NOW, sample(value, operation="write")), minutes=minutes)
            recompute_points(session, cell.id)
        return campaign.id


@pytest.fixture
def app(settings: Settings, database: Database, clock: MovedClock) -> Iterator[FastAPI]:
    """An application that prints, on the built dashboard, at an address that only Chromium sees."""
    assert (DIST / "index.html").is_file(), "run `npm run build` in frontend/"
    own = {"frontend_directory": DIST, "chromium": chromium(), "public_url": PUBLIC_URL}
    app = create_app(settings.model_copy(update=own), clock)
    app.state.database = database
    yield app
    app.state.turns.close()


@pytest.fixture
def printing(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=PUBLIC_URL, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def reader(database: Database, admin: Person) -> Person:
    """The administrator's token that only reads."""
    with database.transaction() as session:
        session.query(ApiToken).filter_by(user_id=admin.principal.user_id).update({"scopes": ["read"]})
    return admin


def read(pdf: bytes) -> tuple[int, str, set[str]]:
    """Return the number of pages, the text without line breaks, and the addresses of links."""
    pages = PdfReader(BytesIO(pdf)).pages
    notes: list[Any] = [note.get_object() for page in pages for note in page.get("/Annots", ())]
    links = {str(note["/A"]["/URI"]) for note in notes if "/URI" in note.get("/A", {})}
    text = normalize("NFKC", " ".join(page.extract_text() for page in pages))  # without ligatures
    return len(pages), " ".join(text.split()), links


@pytest.mark.timeout(180)
def test_the_report_of_a_campaign_is_complete_for_a_token_that_reads(
    printing: TestClient, reader: Person, database: Database, campaign_id: int
) -> None:
    response = printing.get(
        f"/api/v1/campaigns/{campaign_id}/report.pdf", params={"zone": "Asia/Tokyo"}, headers=reader.headers
    )
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == f'attachment; filename="nightly-{campaign_id}.pdf"'
    pages, text, links = read(response.content)
    assert pages <= 3
    assert "xfs" in text
    assert "100 B/s to 120 B/s medians of 2 configurations, 5 runs each" in text  # the answer
    assert "ext4 xfs 0 50 100 Target Write rate (B/s)" in text  # the figure
    assert "119 B/s to 121 B/s, n 5" in text
    assert "GMT+9" in text
    assert {link.removeprefix(f"{PUBLIC_URL}/").partition("/")[0] for link in links} == {"campaigns", "runs"}
    with database.transaction() as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 0
        assert session.scalars(select(AuditEntry.action)).all() == []


@pytest.mark.timeout(180)
def test_the_report_of_a_comparison_is_complete_for_a_session_which_stays_the_only_one(
    printing: TestClient, database: Database, campaign_id: int
) -> None:
    with database.transaction() as session:
        link = sessions.admin_link(session, "", NOW)
    body = {"token": link.partition("#token=")[2]}
    assert printing.post("/api/v1/session/link", json=body).status_code == 200
    profiles = set(Path(gettempdir()).glob("iotide-print-*"))
    response = printing.get("/api/v1/comparison/report.pdf", params={"campaign": campaign_id, "by": "target"})
    assert response.status_code == 200, response.text
    pages, text, _ = read(response.content)
    assert pages <= 3
    assert "Comparison of ext4, xfs" in text
    assert "xfs is 20 % faster than ext4" in text
    with database.transaction() as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 1
    assert set(Path(gettempdir()).glob("iotide-print-*")) <= profiles


@pytest.mark.timeout(180)
def test_a_page_with_an_error_is_no_report(printing: TestClient, admin: Person, campaign_id: int) -> None:
    response = printing.get(
        "/api/v1/comparison/report.pdf", params={"campaign": campaign_id, "by": "nothing"}, headers=admin.headers
    )
    assert (response.status_code, response.json()["error"]["code"]) == (503, "print_failed")
    assert "these cells do not vary in nothing" in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["campaigns/{}/report.pdf", "comparison/report.pdf?campaign={}"])
def test_a_viewer_of_another_cluster_learns_nothing(
    client: TestClient, database: Database, campaign_id: int, path: str
) -> None:
    with database.transaction() as session:
        other = person(session, "eve", Role.VIEWER, Measured(session, NOW, name="other").cluster.id, now=NOW)
    response = client.get(f"/api/v1/{path.format(campaign_id)}", headers=other.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "campaign_not_found")


def test_without_chromium_the_error_names_the_remedy(client: TestClient, admin: Person, campaign_id: int) -> None:
    response = client.get(f"/api/v1/campaigns/{campaign_id}/report.pdf", headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "chromium_missing")
    assert "IOTIDE_CHROMIUM" in response.json()["error"]["remedy"]


def test_a_second_report_waits(printing: TestClient, app: FastAPI, admin: Person, campaign_id: int) -> None:
    PRINTER.of(app.state)._is_printing = True
    response = printing.get(f"/api/v1/campaigns/{campaign_id}/report.pdf", headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (429, "printer_busy")
    assert response.headers["Retry-After"] == "5"


@pytest.mark.parametrize(("script", "reason"), [("exit", "Chromium has ended"), ("exec sleep 60", "it took more than")])
def test_a_chromium_that_ends_or_never_answers_is_reported(
    printing: TestClient,
    app: FastAPI,
    admin: Person,
    campaign_id: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    reason: str,
) -> None:
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(printer, "MOST_SECONDS", 2.0)
    PRINTER.put(app.state, Printer(find_chromium(str(program))))
    response = printing.get(f"/api/v1/campaigns/{campaign_id}/report.pdf", headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "print_failed")
    assert reason in response.json()["error"]["message"]


def test_an_empty_setting_means_no_chromium() -> None:
    assert find_chromium("") is None
    assert find_chromium(None) == find_chromium(Path(chromium()).name)

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from iotide_server.kit.assets import serve_docs


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "secret").write_text("secret")
    docs = tmp_path / "docs"
    (docs / "adr").mkdir(parents=True)
    (docs / "index.html").write_text("contents")
    (docs / "404.html").write_text("no such page")
    app = Starlette()
    serve_docs(app, docs)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/index.html"])
def test_the_contents_are_shown_at_an_address_for_relative_links(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.text == "contents"
    assert response.url.path.startswith("/docs/")


def test_a_page_that_did_not_change_is_not_sent_again(client: TestClient) -> None:
    etag = client.get("/docs/index.html").headers["etag"]
    again = client.get("/docs/index.html", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["gone.html", "adr", "adr/", "..%2fsecret", "%2e%2e/secret", "%00", "a" * 5000])
def test_any_other_address_says_that_there_is_no_such_page(client: TestClient, path: str) -> None:
    response = client.get(f"/docs/{path}")
    assert response.status_code == 404
    assert "secret" not in response.text


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/install.html"])
def test_documentation_that_is_not_built_names_the_remedy(tmp_path: Path, path: str) -> None:
    app = Starlette()
    serve_docs(app, tmp_path)
    response = TestClient(app).get(path)
    assert response.status_code == 404
    assert "./dev docs" in response.text

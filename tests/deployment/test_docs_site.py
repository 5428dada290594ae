"""Generated pages of the documentation, and what the wheels pack of it."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pytest
from api_reference import api_pages
from build_site import refused
from command_reference import PROGRAMS, command_pages
from site_pages import address, page_of_directory
from typer.main import get_command

ROOT: Final = Path(__file__).parents[2]
MAN: Final = "docs/site/dist/man"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(api_pages(json.loads((ROOT / "frontend/openapi.json").read_text())))


def test_every_route_is_on_one_page(pages: dict[str, str]) -> None:
    paths = json.loads((ROOT / "frontend/openapi.json").read_text())["paths"]
    routes = sorted(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods)
    assert sorted(re.findall(r"^    ([A-Z]+ /api/\S+)$", "\n".join(pages.values()), re.MULTILINE)) == routes


def test_a_pattern_with_a_backtick_stays_one_code_span(pages: dict[str, str]) -> None:
    assert any("`` ^[A-Za-z0-9.!#$%&'*+/=?^_`{" in text for text in pages.values())


def test_every_type_has_one_description(pages: dict[str, str]) -> None:
    text = "\n".join(pages.values())
    described = re.findall(r"^\((type-\S+)\)=$", text, re.MULTILINE)
    assert len(described) == len(set(described))
    assert set(re.findall(r"\]\(#(type-[^)]+)\)", text)) <= set(described)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_has_a_section_and_its_whole_description(name: str) -> None:
    page = dict(command_pages())[name]
    assert page.startswith(f"# {name}\n")
    commands = get_command(PROGRAMS[name]).commands  # type: ignore[attr-defined]  # of a group
    for command in commands:
        assert f"\n## {name} {command}\n" in page
        assert f"* [`{command}`](#{name}-{command}): " in page
    assert "...\n*" not in page
    assert "`--install-completion`" in page


def test_addresses_of_pages_leave_out_the_directory_of_the_sources() -> None:
    assert [address(name) for name in ("docs/README", "docs/adr/README", "README", "deploy/README")] == [
        "index",
        "adr/README",
        "README",
        "deploy/README",
    ]


def test_a_link_to_a_directory_leads_to_its_readme_or_a_page_of_its_files() -> None:
    assert page_of_directory(ROOT / "examples") == ROOT / "examples/README.md"
    assert page_of_directory(ROOT / "deploy/proxy") == ROOT / "docs/reference/files/deploy-proxy.md"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<script src="https://cdn.example.org/a.js"></script>',
        '<p onclick="go()">text</p>',
        '<img src="//cdn.example.org/a.png">',
        '<link rel="stylesheet" href="https://cdn.example.org/a.css">',
    ],
)
def test_a_page_that_the_policy_would_break_is_refused(tmp_path: Path, text: str) -> None:
    allowed = '<script src="_static/furo.js"></script><a href="https://example.org">elsewhere</a>'
    (tmp_path / "page.html").write_text(f"{allowed}{text}{allowed}")
    assert len(list(refused(tmp_path))) == 1


def packed(directory: Path) -> dict[str, Any]:
    """Return what the hook of a package adds to its wheel."""
    spec = spec_from_file_location("hook", directory / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    hook = getattr(module, "PackManPages", None) or module.PackRepository
    added: dict[str, Any] = {}
    hook(str(directory), {}, None, None, str(directory), "wheel").initialize("standard", added)
    return added


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for package in ("backend", "agent/node"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "hatch_build.py").write_text((ROOT / package / "hatch_build.py").read_text())
    (tmp_path / "frontend/dist").mkdir(parents=True)
    return tmp_path


def test_wheels_pack_documentation_and_man_pages_if_they_are_built(repository: Path) -> None:
    assert "shared_data" not in packed(repository / "backend")
    assert packed(repository / "agent/node")["shared_data"] == {}
    (repository / MAN).mkdir(parents=True)
    for name in PROGRAMS:
        (repository / MAN / f"{name}.1").touch()
    server, agent = packed(repository / "backend"), packed(repository / "agent/node")
    assert server["force_include"][str(repository / "docs/site/dist/html")] == "iotide_server/docs"
    assert {*server["shared_data"].values(), *agent["shared_data"].values()} == {
        f"share/man/man1/{name}.1" for name in PROGRAMS
    }

import ast
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from factories.raised import raised

import iotide_server
from iotide_server.kit.errors import ConflictError, ErrorKind, InvalidInputError, IotideError, NotFoundError

SOURCE = Path(iotide_server.__file__).parent
SEVERAL_ROWS = {
    "body_too_large": "any body, or an artefact",
    "cell_not_found": "a cell is named by its id, by its number or as the source of a surface",
    "cluster_not_found": "a grant may name several clusters",
    "invalid_input": "the code of all input that has no code of its own",
    "never_fires": "the day does not exist, or not before the end",
    "path_not_approved": "an agent approves other directories, or none",
    "report_too_large": "one report is too large, or those of a day",
    "user_not_found": "a user is named by id or by name",
}
"""Codes of more than one kind, and why."""

FULL = ErrorKind(409, "full", field="disks[{index}]", shows="used_bytes").says(
    "{names:names} hold {used_bytes:bytes} since {since:time}", "wait {pause:seconds}, or take one of {others:sorted}"
)


def is_row(node: ast.stmt) -> bool:
    """Return whether a class is a row of a table, including rows that a function of their module fills in."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


@cache
def kinds() -> dict[str, ErrorKind]:
    found: dict[str, ErrorKind] = {}
    for path, tree in trees().items():
        rows = [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign) and is_row(node)]
        if "ErrorKind" not in path.read_text():
            continue
        module = import_module(".".join(("iotide_server", *path.relative_to(SOURCE).with_suffix("").parts)))
        for name in rows:
            if isinstance(getattr(module, name), ErrorKind):
                assert name not in found, f"{name} is a kind in two modules"
                found[name] = getattr(module, name)
    return found


def sites() -> Iterator[tuple[str, ErrorKind, ast.Call]]:
    """Yield each call of a kind, with its file and line."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds():
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", kinds()[node.func.id], node


def test_an_error_matches_its_row() -> None:
    error = FULL(
        index=2,
        used_bytes=3 * 1024**3,
        names=["a", "b"],
        since=datetime(2026, 11, 21, 10, tzinfo=UTC),
        pause=timedelta(minutes=2),
        others={9, 7},
    )
    assert isinstance(error, ConflictError)
    assert (error.kind, error.status, error.code) == (FULL, 409, "full")
    assert error.message == "a, b hold 3 GiB since 2026-11-21 10:00:00 UTC"
    assert (error.field, error.value, error.remedy) == ("disks[2]", 3 * 1024**3, "wait 120 s, or take one of 7, 9")


def test_a_value_that_is_named_like_the_field_is_shown() -> None:
    kind = ErrorKind(422, "wrong", field="size").says("{size} is wrong, not {{size}}")
    assert (kind(size=7).message, kind(size=7).value) == ("7 is wrong, not {size}", 7)
    assert isinstance(kind(size=7), InvalidInputError)


def test_a_raise_site_may_know_a_better_field_and_remedy() -> None:
    kind = ErrorKind(404, "absent", field="id", shows="id").says("no {id}")
    assert isinstance(kind(id=7), NotFoundError)
    assert kind(id=7).remedy == NotFoundError.usual_remedy
    better = kind(id=7, field="ids[3]", remedy="take 8")
    assert (better.field, better.value, better.remedy) == ("ids[3]", 7, "take 8")


def test_a_temporary_refusal_shows_how_long_to_wait() -> None:
    kind = ErrorKind(429, "too_many").says("wait {wait_seconds} s")
    assert (kind(wait_seconds=7).message, kind(wait_seconds=7).wait_seconds) == ("wait 7 s", 7)


def test_a_value_that_is_not_given_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError, match="names"):
        FULL(index=2)


def test_only_the_kind_that_is_expected_passes() -> None:
    other = ErrorKind(409, "other").says("other")
    with raised(other):
        raise other()
    with pytest.raises(AssertionError), raised(FULL):
        raise other()
    with pytest.raises(AssertionError), raised(FULL):
        raise IotideError("without a kind")


def test_each_site_gives_what_the_templates_of_its_kind_name() -> None:
    wrong = []
    for where, kind, call in sites():
        given, named = {keyword.arg for keyword in call.keywords}, kind.names()
        optional = {"field", "remedy", "wait_seconds"}
        if call.args or named - given or given - named - optional:
            wrong.append(f"{where} {kind.code}: gives {sorted(map(str, given))}, and the row names {sorted(named)}")
    assert wrong == []


def test_each_kind_has_a_code_of_its_own_and_is_raised() -> None:
    assert len(kinds()) > 200
    counted = Counter(kind.code for kind in kinds().values())
    assert {code for code, count in counted.items() if count > 1} == SEVERAL_ROWS.keys()
    loaded = {
        node.id
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert kinds().keys() - loaded == set()


def test_docstrings_name_kinds_that_there_are() -> None:
    docstrings = [
        " ".join((ast.get_docstring(node) or "").split())
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    raised = [part for text in docstrings for part in re.findall(r"(?:[Rr]aises?:?|, or) (.*?)(?:[.;] |[.;]?$)", text)]
    named = {name for part in raised for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", part)}
    constants = {
        node.id
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    assert len(named & kinds().keys()) > 100
    assert named - kinds().keys() - constants == set()

import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from iotide_agent.cli.plan_file import read_plan, read_schedule
from iotide_agent.cli.problems import Problem, RefusedError

GOOD = """\
name: first
cluster: demo
nodes: [n1, n2]
targets:
  - disk
workloads:
  - workload: dd
    options: {flush: direct, block_size_bytes: 16 MiB}
    sweep:
      file_size_bytes: [64 MiB, 134217728]
exclusive: node+target
"""


def problems_of(text: str, directory: Path) -> list[Problem]:
    file = directory / "plan.yaml"
    file.write_text(text)
    with pytest.raises(RefusedError) as refused:
        read_plan(file)
    return list(refused.value.problems)


def test_sizes_keep_their_unit_for_the_server_to_read(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(GOOD)
    plan = read_plan(tmp_path / "plan.yaml")
    assert plan.nodes == ["n1", "n2"]
    assert plan.workloads[0].sweep == {"file_size_bytes": ["64 MiB", 134_217_728]}
    assert plan.workloads[0].options["block_size_bytes"] == "16 MiB"
    assert plan.repeats == 4


def test_the_wait_for_a_quiet_node_is_written_as_a_duration(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(f"{GOOD}\nquiet: wait\nquiet_wait: 5 min\n")
    plan = read_plan(tmp_path / "plan.yaml")
    assert (plan.quiet, plan.quiet_wait_seconds) == ("wait", 300.0)


def test_a_cool_down_is_written_as_a_duration(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(f"{GOOD}\ncool_down: 5 min\ncache: remount\n")
    plan = read_plan(tmp_path / "plan.yaml")
    assert (plan.cool_down_seconds, plan.cache) == (300.0, "remount")


@pytest.mark.parametrize(
    ("changed", "field", "place", "remedy"),
    [
        ("cluster: demo|", "cluster", "1:1", "add it"),
        ("repeats: 0|exclusive: node", "repeats", "11:1", None),
        ("  - /mnt/disk|  - disk", "targets[0]", "5:5", "letters, digits, dot"),
        ("    option: {flush|    options: {flush", "workloads[0].option", "8:5", "did you mean options?"),
        ("exclusiv: node|exclusive: node+target", "exclusiv", "11:1", "did you mean exclusive?"),
        ("repeats: {until: 3, most: 40}|exclusive: node+target", "repeats.until", "11:11", None),
        ("cool_down: soon|exclusive: node+target", "cool_down", "11:1", None),
        ("cache: warm|exclusive: node+target", "cache", "11:1", None),
        ("zzz: red|exclusive: node+target", "zzz", "11:1", "remove it; a plan has name, cluster"),
        ("name: 2026-11-21|name: first", "name", "1:1", "put dates, numbers, yes and no in quotes"),
        (
            "      file_size_bytes: []|      file_size_bytes: [64 MiB, 134217728]",
            "workloads[0].sweep.file_size_bytes",
            "10:7",
            None,
        ),
    ],
)
def test_bad_field_is_named_with_its_place_and_the_remedy(
    changed: str, field: str, place: str, remedy: str | None, tmp_path: Path
) -> None:
    new, old = changed.split("|")
    text = GOOD.replace(f"{new}\n", "") if not old else GOOD.replace(old, new, 1)
    [problem] = problems_of(text, tmp_path)
    assert problem.field == field
    assert problem.place == f"{tmp_path / 'plan.yaml'}:{place}"
    assert (remedy or "") in (problem.remedy or "")


def test_all_bad_fields_are_reported_at_once(tmp_path: Path) -> None:
    found = problems_of("name: a b\nrepeats: many\n", tmp_path)
    assert {problem.field for problem in found} == {"name", "repeats", "cluster", "nodes", "targets", "workloads"}
    [repeats] = [problem for problem in found if problem.field == "repeats"]
    assert repeats.value == "many"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: [a\nb: c\n", "2:2"),
        ("name: 'a\n", "2:1"),
        ("a: b: c\n", "1:5"),
        ("\tname: x\n", "1:1"),
        ("a: *gone\n", "1:4"),
    ],
)
def test_broken_yaml_names_line_and_column(text: str, place: str, tmp_path: Path) -> None:
    [problem] = problems_of(text, tmp_path)
    assert problem.code == "invalid_yaml"
    assert problem.place == f"{tmp_path / 'plan.yaml'}:{place}"


def test_duplicate_key_is_rejected_instead_of_taking_the_last(tmp_path: Path) -> None:
    [outer] = problems_of(GOOD + "name: second\n", tmp_path)
    assert (outer.field, outer.message) == ("name", 'the key "name" occurs twice')
    [inner] = problems_of(GOOD.replace("flush: direct,", "flush: direct, flush: none,"), tmp_path)
    assert inner.field == "flush"


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "42"])
def test_file_without_a_mapping_holds_no_campaign(text: str, tmp_path: Path) -> None:
    [problem] = problems_of(text, tmp_path)
    assert "contains no campaign or schedule" in problem.message
    assert problem.remedy is not None


@pytest.mark.parametrize(
    "name",
    ["!!python/object/apply:os.getcwd []", "2026-99-99", "&a [*a]", "[" * 5000, "{? [a] : b}", "{? {a: b} : c}"],
)
def test_yaml_that_is_no_plain_text_is_refused_without_a_crash(name: str, tmp_path: Path) -> None:
    [problem, *_] = problems_of(GOOD.replace("first", name), tmp_path)
    assert problem.code in {"invalid_yaml", "invalid_input"}


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"missing.yaml cannot be read: No such file"):
        read_plan(tmp_path / "missing.yaml")
    with pytest.raises(RefusedError, match="Is a directory"):
        read_plan(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(RefusedError, match="not UTF-8 text"):
        read_plan(tmp_path / "latin.yaml")
    (tmp_path / "huge.yaml").write_bytes(b"#" * (2 * 1024**2 + 1))
    with pytest.raises(RefusedError, match="2097153 bytes"):
        read_plan(tmp_path / "huge.yaml")


def test_hours_are_read_as_they_are_written_with_quotes_or_without(tmp_path: Path) -> None:
    window = "window: {from: 22:00, until: 05:00, time_zone: Europe/Zurich}\nrepeats: 3\ncool_down: 1.5\n"
    (tmp_path / "plan.yaml").write_text(GOOD + window)
    plan = read_plan(tmp_path / "plan.yaml")
    assert str(plan.window) == "22:00 to 05:00 Europe/Zurich"
    assert (plan.repeats, plan.cool_down_seconds) == (3, 1.5)


def test_errors_in_a_window_are_reported_at_their_place(tmp_path: Path) -> None:
    (problem,) = problems_of(GOOD + "window: {from: 22:00, til: 05:00, until: 05:00, time_zone: UTC}\n", tmp_path)
    assert (problem.field, problem.message, problem.remedy) == ("window.til", "unknown field", "did you mean until?")


SCHEDULE = """\
name: nightly
monthly: first sunday at 02:30
time_zone: Europe/Zurich
random_offset: 30 min
ends_at: 2026-12-31T23:00:00+01:00
missed: run_once
plan:
"""


def test_a_schedule_has_its_plan_inside(tmp_path: Path) -> None:
    file = tmp_path / "schedule.yaml"
    file.write_text(SCHEDULE + textwrap.indent(GOOD, "  "))
    schedule = read_schedule(file)
    assert (schedule.monthly, schedule.random_offset_seconds) == ("first sunday at 02:30", 1800.0)
    assert schedule.ends_at == datetime(2026, 12, 31, 22, tzinfo=UTC)
    assert schedule.plan.nodes == ["n1", "n2"]


def test_errors_in_the_plan_of_a_schedule_have_a_path_from_the_schedule(tmp_path: Path) -> None:
    file = tmp_path / "schedule.yaml"
    file.write_text(SCHEDULE + textwrap.indent(GOOD.replace("nodes: [n1, n2]", "nodes: 1"), "  "))
    with pytest.raises(RefusedError) as refused:
        read_schedule(file)
    (problem,) = refused.value.problems
    assert (problem.field, problem.place) == ("plan.nodes", f"{file}:10:3")

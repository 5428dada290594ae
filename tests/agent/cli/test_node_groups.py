"""Groups by a stand-in for ClusterShell's nodeset, as nodeset(1) describes it."""

import os
from pathlib import Path

import pytest

from iotide_agent.cli.plan_file import read_plan
from iotide_agent.cli.problems import RefusedError

PLAN = """\
name: groups
cluster: lab
nodes: {nodes}
targets: [scratch]
workloads:
  - workload: dd
    nodes: "@rack1"
    options: {{label: "@rack1"}}
"""
NODESET = """\
#!/bin/sh
[ "$1 $2" = "--expand --separator=
" ] || exit 9
case $3 in
  @rack1) printf 'node1\\nnode2\\n' ;;
  @rack1,node9) printf 'node1\\nnode2\\nnode9\\n' ;;
  @empty) ;;
  *) echo "nodeset: ERROR: External error: Unable to find group $3" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def nodeset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "nodeset"
    program.parent.mkdir()
    program.write_text(NODESET)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def plan_with(tmp_path: Path, nodes: str) -> Path:
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN.format(nodes=nodes))
    return file


@pytest.mark.usefixtures("nodeset")
@pytest.mark.parametrize(
    ("written", "nodes"),
    [
        ('"@rack1"', ["node1", "node2"]),
        ('["@rack1,node9", "node[2-3]"]', ["node1", "node2", "node9", "node2", "node3"]),
        ('["@rack1", "@rack1"]', ["node1", "node2"]),
        ("[node1, node2]", ["node1", "node2"]),
    ],
)
def test_groups_of_a_plan_are_those_of_clustershell(tmp_path: Path, written: str, nodes: list[str]) -> None:
    plan = read_plan(plan_with(tmp_path, written))
    assert plan.nodes == nodes
    assert plan.workloads[0].nodes == ["node1", "node2"]
    assert plan.workloads[0].options == {"label": "@rack1"}


@pytest.mark.usefixtures("nodeset")
@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('"@nowhere"', "Unable to find group @nowhere"),
        ('"@empty"', "it has no nodes"),
        ('"-x@rack1"', "is no node set"),
        ('"@rack1 --help"', "is no node set"),
    ],
)
def test_a_group_that_clustershell_does_not_have_is_refused_with_its_words(
    tmp_path: Path, written: str, words: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        read_plan(plan_with(tmp_path, written))
    [problem] = caught.value.problems
    assert words in problem.message
    assert problem.field == "nodes"


def test_without_clustershell_the_remedy_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RefusedError) as caught:
        read_plan(plan_with(tmp_path, '"@rack1"'))
    assert "install ClusterShell" in str(caught.value.problems[0].remedy)

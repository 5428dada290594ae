"""Example campaigns are valid by the plan's rules and their workloads' option schemas."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from ready_made import QUESTIONS, head_of, ready_made

from iotide_agent.cli.plan_file import read_plan, read_schedule
from iotide_agent.workloads.registry import workload
from iotide_wire.options import to_base_units
from iotide_wire.plan import CampaignPlan, WorkloadChoice

EXAMPLES = Path(__file__).parents[3] / "examples"


def combinations(choice: WorkloadChoice) -> Iterator[dict[str, object]]:
    for values in product(*choice.sweep.values()):
        yield choice.options | dict(zip(choice.sweep, values, strict=True))


def assert_good(plan: CampaignPlan) -> None:
    for choice in plan.workloads:
        options_type = workload(choice.workload, {}).options_type
        for options in combinations(choice):
            options_type.model_validate(to_base_units(options_type.model_json_schema(), options))


SCHEDULES = sorted((EXAMPLES / "schedules").glob("*.yaml"))
CAMPAIGNS = sorted(set(EXAMPLES.rglob("*.yaml")) - set(SCHEDULES))


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda path: path.name)
def test_example_schedules_are_good_ones(path: Path) -> None:
    assert_good(read_schedule(path).plan)


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_example_is_a_good_plan(path: Path) -> None:
    assert_good(read_plan(path))


def test_each_of_the_nine_experiments_can_be_tried_in_small() -> None:
    in_small = {path.name for path in (EXAMPLES / "small").glob("*.yaml")}
    assert in_small == {f"experiment-{number}.yaml" for number in range(1, 10)}
    assert {path.name for path in EXAMPLES.glob("experiment-*.yaml")} == in_small


def test_example_of_the_rest_interface_is_a_good_plan() -> None:
    assert_good(CampaignPlan.model_validate(json.loads((EXAMPLES / "rest/plan.json").read_text())))


def test_every_example_is_in_the_table_of_the_readme() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.glob("*.yaml"):
        assert f"| `{path.name}` |" in readme


def test_every_ready_made_campaign_asks_the_question_of_the_readme() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    for made in ready_made()[: len(QUESTIONS)]:
        assert f"| `{made['key']}.yaml` | {made['question']} |" in readme


def test_the_builder_has_the_plans_of_the_examples() -> None:
    written = EXAMPLES.parent / "frontend/src/features/campaigns/builder/readyMade.json"
    assert json.loads(written.read_text()) == ready_made(), "run ./dev generate"


def test_a_head_without_a_question_is_refused() -> None:
    with pytest.raises(ValueError, match=r"begin with `# Title: summary\.`"):
        head_of("# Quick: one stream.\nname: quick\n")

"""Option names: every text uses the title in the workload's schema."""

from typing import Any

import pytest

from iotide_agent.cli.names import Catalogue
from iotide_agent.workloads.registry import all_workloads
from iotide_server.advice.rules.headline import setting_words
from iotide_server.alerts.messages import labels_words
from iotide_wire.names import Titles, described, option_titles

OPTIONS = [(name, option) for name, one in all_workloads().items() for option in one.options_schema()["properties"]]


def titles_of(name: str) -> Titles:
    return option_titles(all_workloads()[name].options_schema())


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_is_named_by_its_schema_in_every_sentence(name: str, option: str) -> None:
    schema: dict[str, Any] = all_workloads()[name].options_schema()
    title, titles = schema["properties"][option]["title"], titles_of(name)
    assert described({option: "x"}, titles) == f"{title} x"
    assert labels_words({option: "x"}, titles) == f" ({title} x)"
    assert Catalogue({name: titles}).described(name, {option: "x"}) == f"{title} x"
    assert setting_words({option: "x"}, titles, [option]) == f"{title} x"

import pytest
from pydantic import ValidationError

from iotide_server.targets.schemas import TargetPatch


def test_paths_of_single_nodes_are_not_ignored_where_the_nodes_are_left_out() -> None:
    elsewhere = [{"node_id": 3, "path": "/work"}]
    with pytest.raises(ValidationError, match="give `nodes` too"):
        TargetPatch.model_validate({"elsewhere": elsewhere})
    assert TargetPatch.model_validate({"nodes": [1], "elsewhere": elsewhere}).places() == {1: None, 3: "/work"}

from iotide_server.targets.schemas import TargetPatch


def test_paths_of_single_nodes_go_with_the_nodes_that_have_the_targets_own() -> None:
    elsewhere = [{"node_id": 3, "path": "/work"}]
    assert TargetPatch.model_validate({"nodes": [1], "elsewhere": elsewhere}).places() == {1: None, 3: "/work"}

"""Adaptive repeats with the real server, worker and agent."""

from rig import Rig


def test_a_wide_configuration_gets_another_round_up_to_the_most_runs(rig: Rig) -> None:
    options = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
    rule = {"until": "0.01 %", "most": 12}
    plan = rig.plan("dd", options, name="until-narrow", repeats=rule)
    campaign = rig.stack.wait_campaign(rig.stack.post("/campaigns", plan)["id"])
    assert (campaign["state"], campaign["counts"]["finished"]) == ("finished", 12)
    assert (campaign["adaptive"]["most"], campaign["adaptive"]["open"]) == (1, 0)
    (cell,) = rig.stack.get(f"/campaigns/{campaign['id']}/cells")["items"]
    assert cell["adaptive"]["words"].startswith("12 runs, still ±")
    assert campaign["additions"] == []

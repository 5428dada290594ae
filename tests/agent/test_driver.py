"""The whole agent: real processes, a real Redis and Celery, real HTTP."""

from agent.agent_rig import AgentRig

from iotide_wire.messages import Outcome

DD = {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}


def test_an_offer_becomes_a_result_and_nothing_is_left(agent: AgentRig) -> None:
    order_id = agent.offer("dd", DD)
    result = agent.gateway.result(order_id)
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert {sample.metric for sample in result.samples} == {"throughput", "duration"}
    assert [step.name for step in result.steps] == ["write", "read"]
    assert result.steps[0].argv[0] == "dd"
    record = agent.gateway.orders[order_id]
    assert {artefact.name for artefact in result.artefacts} == set(record.artefacts)
    assert "000-write.stderr" in record.artefacts
    assert result.environment["workload.revision"] == 1
    agent.until_order_gone(order_id)
    assert list(agent.target.iterdir()) == []
    assert list((agent.state / "spool/offers").iterdir()) == []
    print((agent.base / "agent.log").read_text())

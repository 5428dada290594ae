"""A node that only sends: the server does not require of it what a target requires of a loading node."""

from factories.site import Site
from sqlalchemy import text

from iotide_server.campaigns import repository
from iotide_server.campaigns.models import CampaignStage
from iotide_server.targets.repository import runs_that_load

ROLES = ("sender", "receiver")


def test_a_pause_confirms_only_the_mounts_of_the_receiver(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2], target="nfs", roles=ROLES)
    campaign_id = site.run(run_id).campaign_id
    with site.database.transaction() as session:
        stage = CampaignStage(campaign_id=campaign_id, ordinal=1, variant="xfs", pause="make it", state="paused")
        session.add(stage)
        session.flush()
        assert repository.places_of(session, stage) == {(site.node_ids[1], site.target_ids["nfs"])}
        session.delete(stage)  # its runs are in the queues the whole time


def test_a_target_may_be_taken_off_a_node_that_only_sends(site: Site) -> None:
    site.add_runs([1, 2], target="nfs", roles=ROLES)
    with site.database.transaction() as session:
        loads = [runs_that_load(session, site.target_ids["nfs"], [node_id]) for node_id in site.node_ids]
        assert (loads, runs_that_load(session, site.target_ids["nfs"])) == ([0, 1], 1)


def test_both_nodes_of_a_pair_are_taken_and_the_target_once(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2], target="nfs", roles=ROLES)
    assert site.start() == [run_id, run_id]
    own = "SELECT resource_kind, resource_id FROM lease WHERE active AND resource_kind <> 'cluster' ORDER BY 1, 2"
    with site.database.transaction() as session:
        held = session.execute(text(own)).all()
    assert [tuple(one) for one in held] == [
        ("node", site.node_ids[0]),
        ("node", site.node_ids[1]),
        ("target", site.target_ids["nfs"]),
    ]

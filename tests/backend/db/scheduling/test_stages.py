"""Campaigns in stages, for the scheduler and the operator: no run is measured in the wrong stage."""

from typing import Any

import pytest
from factories.announced import mount
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from iotide_server.campaigns import reading as campaigns
from iotide_server.campaigns import service, stages
from iotide_server.campaigns.errors import (
    CAMPAIGN_NOT_PAUSED,
    FACTS_NOT_READ,
    MOUNTS_DIFFER,
    STAGE_NOT_ENDED,
    TARGET_NOT_MOUNTED,
)
from iotide_server.runs import reading
from iotide_server.runs import service as runs
from iotide_server.runs.errors import RUN_STAGE_OVER
from iotide_server.targets.backing import set_backing
from iotide_server.targets.models import Target, TargetMount
from iotide_wire.facts import MountFacts
from iotide_wire.messages import Outcome
from iotide_wire.plan import CampaignPlan

REFORMAT = "reformat the target with xfs and mount it"
XFS = mount("/scratch", "xfs", "/dev/sdb1")
ROOT = mount("/", "ext4", "/dev/sda1", path="/scratch")


class Staged:
    """A campaign with the agent of node 1 and, by default, one run in each stage on each node."""

    def __init__(self, site: Site, *planned: dict[str, Any], nodes: tuple[str, ...] = ("n1",), **changes: Any) -> None:  # noqa: ANN401 - any field of a plan
        self.site = site
        self.agent = site.agent(1)
        plan = CampaignPlan.model_validate(
            {
                "name": "formats",
                "cluster": "blade",
                "nodes": list(nodes),
                "targets": ["scratch"],
                "workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}],
                "repeats": 1,
                "stages": list(planned),
                **changes,
            }
        )
        self.say(mount("/scratch"))
        with site.database.transaction() as session:
            self.id = service.submit(session, ADMIN, plan, None, site.clock()).campaign_id
            self.run_ids = list(session.scalars(text("SELECT id FROM run ORDER BY id")))

    def say(self, *mounts: MountFacts) -> None:
        """Report the agent's mounts, from a look that began after the request."""
        self.agent.hello(instance=self.agent.instance, mounts=mounts, look=self.agent.heartbeat().look)

    def end_run(self, outcome: Outcome = Outcome.FINISHED) -> None:
        self.agent.finish(self.agent.claim_offer(), outcome, reason=None if outcome is Outcome.FINISHED else "broke")

    def state(self) -> str:
        with self.site.database.transaction() as session:
            return campaigns.campaign(session, ADMIN, self.id, self.site.clock()).state

    def look(self) -> None:
        with self.site.database.transaction() as session:
            stages.look(session, ADMIN, self.id, self.site.clock())

    def seen(self) -> str:
        with self.site.database.transaction() as session:
            return stages.pause(session, ADMIN, self.id).found_sha256

    def confirm(self, seen_sha256: str | None = None) -> None:
        with self.site.database.transaction() as session:
            seen = seen_sha256 or stages.pause(session, ADMIN, self.id).found_sha256
            stages.confirm(session, ADMIN, self.id, seen, self.site.clock())


@pytest.fixture
def staged(site: Site) -> Staged:
    """A campaign with a second stage that waits for an operator."""
    return Staged(site, {"variant": "ext4"}, {"variant": "xfs", "pause": REFORMAT})


@pytest.fixture
def paused(staged: Staged) -> Staged:
    """A campaign after its first stage."""
    staged.site.start()
    staged.end_run()
    assert staged.site.start() == []
    return staged


def frozen(session: Session, site: Site) -> tuple[str, str]:
    found = session.get_one(TargetMount, (site.target_ids["scratch"], site.node_ids[0]))
    return found.fstype, found.source


def test_a_stage_begins_when_the_one_before_has_ended_and_pauses_for_an_operator(staged: Staged) -> None:
    first, second = staged.run_ids
    assert staged.site.start() == [first]
    assert staged.state() == "active"
    staged.end_run()
    assert staged.site.start() == []
    assert staged.state() == "paused"
    with staged.site.database.transaction() as session:
        reason = reading.why_waiting(session, reading.run(session, ADMIN, second), staged.site.clock())
    assert reason == f"Stage 2 (xfs) waits until an operator confirms: {REFORMAT}"


def test_a_failed_stage_is_followed_by_the_next_too(staged: Staged) -> None:
    staged.site.start()
    staged.end_run(Outcome.FAILED)
    staged.site.start()
    assert staged.state() == "paused"


def test_a_stage_without_a_pause_begins_automatically(site: Site) -> None:
    staged = Staged(site, {"variant": "first"}, {"variant": "second"})
    assert site.start() == [staged.run_ids[0]]
    staged.end_run()
    assert site.start() == [staged.run_ids[1]]


def test_a_pause_before_the_first_stage_keeps_everything(site: Site) -> None:
    staged = Staged(site, {"variant": "ext4", "pause": "format it"})
    assert site.start() == []
    assert staged.state() == "paused"


def test_a_confirmation_takes_what_is_mounted_as_the_target_and_starts_the_stage(paused: Staged) -> None:
    paused.say(XFS)
    paused.look()
    assert paused.agent.heartbeat().look == 1
    paused.say(XFS)
    assert paused.agent.heartbeat().look is None
    paused.confirm()
    with paused.site.database.transaction() as session:
        assert frozen(session, paused.site) == ("xfs", "/dev/sdb1")
    assert paused.site.start() == [paused.run_ids[1]]
    with raised(CAMPAIGN_NOT_PAUSED):
        paused.seen()


def test_a_report_from_before_the_request_to_look_is_not_accepted(paused: Staged) -> None:
    paused.say(XFS)
    with raised(FACTS_NOT_READ, match="no current mounts from n1"):
        paused.confirm()
    paused.site.clock.move(1.0)
    paused.look()
    with raised(FACTS_NOT_READ):
        paused.confirm()


def test_a_look_that_began_before_the_request_is_not_accepted(paused: Staged) -> None:
    paused.look()
    asked_before = paused.agent.heartbeat().look
    paused.look()
    for look in (None, asked_before):
        paused.agent.hello(instance=paused.agent.instance, mounts=(mount("/scratch"),), look=look)
        with raised(FACTS_NOT_READ):
            paused.confirm()
    paused.say(XFS)
    paused.confirm()


def test_a_confirmation_of_other_mounts_than_those_found_is_refused(paused: Staged) -> None:
    seen = paused.seen()
    paused.look()
    paused.say(XFS)
    with raised(MOUNTS_DIFFER):
        paused.confirm(seen)
    with paused.site.database.transaction() as session:
        assert frozen(session, paused.site) == ("ext4", "/dev/sdb1")


def test_a_target_that_is_not_mounted_is_never_accepted_as_the_disk_below_it(paused: Staged) -> None:
    paused.look()
    paused.say(ROOT)
    with raised(TARGET_NOT_MOUNTED, match=r"nothing is mounted at /scratch; /scratch is on ext4 from"):
        paused.confirm()
    assert paused.site.start() == []


def test_the_backing_targets_are_probed_and_confirmed_too(paused: Staged) -> None:
    site, storage = paused.site, paused.site.agent(2)
    with site.database.transaction() as session:
        disk = Target(cluster_id=site.cluster_id, name="ost", path="/ost", scope="node")
        session.add(disk)
        session.flush()
        was = {"path": "/ost", "mount_point": "/ost", "fstype": "ext3", "source": "/dev/sdc1", "mount_options": "rw"}
        session.add(TargetMount(target_id=disk.id, node_id=site.node_ids[1], seen_at=site.clock(), **was))
        session.flush()
        set_backing(session, ADMIN, site.target_ids["scratch"], [disk.id])
    paused.look()
    asked = storage.heartbeat().look
    paused.say(mount("/scratch"))
    with raised(FACTS_NOT_READ, match="no current mounts from n2"):
        paused.confirm()

    storage.hello(instance=storage.instance, mounts=(mount("/", "ext4", "/dev/sda1", path="/ost"),), look=asked)
    with raised(TARGET_NOT_MOUNTED, match="target ost on node n2: nothing is mounted at /ost"):
        paused.confirm()

    storage.hello(instance=storage.instance, mounts=(mount("/ost", "xfs", "/dev/sdc1"),))
    with site.database.transaction() as session:
        found = stages.pause(session, ADMIN, paused.id)
        assert [(on.target.name, on.node.name, on.is_change, on.is_backing) for on in found.mounts] == [
            ("scratch", "n1", False, False),
            ("ost", "n2", True, True),
        ]
        assert [each["target"] for each in found.found] == ["scratch", "ost"]
    paused.confirm()
    with site.database.transaction() as session:
        assert session.get_one(TargetMount, (disk.id, site.node_ids[1])).fstype == "xfs"
    assert site.start() == [paused.run_ids[1]]


def test_a_target_is_asked_for_only_on_the_nodes_that_load_it(site: Site) -> None:
    load = {"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}
    pairs = [{**load, "nodes": ["n1"], "targets": ["scratch"]}, {**load, "nodes": ["n2"], "targets": ["nfs"]}]
    planned = {"variant": "xfs", "pause": REFORMAT}
    staged = Staged(site, planned, nodes=("n1", "n2"), targets=["scratch", "nfs"], workloads=pairs)
    other = site.agent(2)
    staged.look()
    staged.say(XFS, mount("/", "ext4", "/dev/sda1", path="/nfs"))
    other.hello(instance=other.instance, mounts=(ROOT, mount("/nfs")), look=other.heartbeat().look)
    with site.database.transaction() as session:
        found = stages.pause(session, ADMIN, staged.id).mounts
        assert [(on.target.name, on.node.name) for on in found] == [("nfs", "n2"), ("scratch", "n1")]
    staged.confirm()
    assert site.start() == staged.run_ids


def test_a_node_with_cancelled_runs_does_not_block_a_pause(site: Site) -> None:
    staged = Staged(site, {"variant": "ext4", "pause": REFORMAT}, nodes=("n1", "n2"))
    with site.database.transaction() as session:
        runs.cancel(session, ADMIN, staged.run_ids[1], site.clock())
    staged.look()
    staged.say(XFS)
    staged.confirm()
    assert site.start() == staged.run_ids[:1]


def test_a_run_of_a_stage_that_is_over_or_has_not_begun_cannot_be_retried(paused: Staged) -> None:
    first, second = paused.run_ids
    paused.look()
    paused.say(XFS)
    paused.confirm()
    paused.site.change("UPDATE run SET state = 'failed' WHERE id = :id", id=first)
    with paused.site.database.transaction() as session, raised(RUN_STAGE_OVER, match="'ext4'"):
        runs.retry(session, ADMIN, first, paused.site.clock())
    paused.site.change("UPDATE run SET state = 'finished' WHERE id = :id", id=first)
    paused.site.start()
    paused.end_run(Outcome.FAILED)
    with paused.site.database.transaction() as session:
        runs.retry(session, ADMIN, second, paused.site.clock())
    assert paused.site.start() == [second]


def test_a_run_that_was_retried_during_the_pause_keeps_the_next_stage_from_being_confirmed(staged: Staged) -> None:
    staged.site.start()
    staged.end_run(Outcome.FAILED)
    staged.site.start()
    with staged.site.database.transaction() as session:
        runs.retry(session, ADMIN, staged.run_ids[0], staged.site.clock())
    with raised(STAGE_NOT_ENDED):
        staged.confirm()


def test_a_stage_is_not_confirmed_while_a_run_of_the_one_before_is_being_retried(staged: Staged) -> None:
    site = staged.site
    site.start()
    staged.end_run(Outcome.FAILED)
    site.start()
    staged.look()
    staged.say(mount("/scratch"))
    seen = staged.seen()
    with site.database.transaction() as retrying:
        runs.retry(retrying, ADMIN, staged.run_ids[0], site.clock())
        with site.database.transaction() as session:
            session.execute(text("SET LOCAL lock_timeout = '50ms'"))
            with pytest.raises(OperationalError, match="lock timeout"):
                stages.confirm(session, ADMIN, staged.id, seen, site.clock())
            session.rollback()


def test_a_paused_campaign_can_be_cancelled_and_waits_no_longer(paused: Staged) -> None:
    with paused.site.database.transaction() as session:
        service.cancel(session, ADMIN, paused.id, paused.site.clock())
    assert paused.state() == "cancelled"
    assert paused.site.start() == []
    with raised(CAMPAIGN_NOT_PAUSED):
        paused.seen()


@pytest.mark.parametrize("is_paused", [False, True], ids=["held", "paused"])
def test_a_stage_of_which_all_runs_were_cancelled_is_passed_over(site: Site, *, is_paused: bool) -> None:
    staged = Staged(site, {"variant": "ext4"}, {"variant": "xfs", "pause": REFORMAT}, {"variant": "jfs"})
    assert site.start() == staged.run_ids[:1]
    if is_paused:
        staged.end_run()
        site.start()
    with site.database.transaction() as session:
        runs.cancel(session, ADMIN, staged.run_ids[1], site.clock())
    if not is_paused:
        staged.end_run()
    assert site.start() == staged.run_ids[2:]
    staged.end_run()
    assert staged.state() == "cancelled"

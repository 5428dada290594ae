from collections.abc import Callable
from datetime import timedelta

from factories.batch_site import BatchSite, why
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.raised import raised
from factories.site import Site

from iotide_server.agent_api.batch_jobs import LINGERS
from iotide_server.agent_api.errors import ORDER_TAKEN, ORDER_WITHDRAWN
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs import reading
from iotide_server.runs.lifecycle import DECLINES_FORGIVEN
from iotide_server.scheduling.service import Scheduler
from iotide_wire.batch import JobEnd, JobState, SeenHost
from iotide_wire.messages import OrderState, Outcome

Cancel = Callable[[int], None]


def step_for(slurm: BatchSite, scheduler: Scheduler, seconds: float) -> None:
    """Let time pass while the gateway keeps reporting and the nodes are silent."""
    for _ in range(int(seconds / 5)):
        slurm.site.clock.move(5)
        slurm.report()
        scheduler.step(set())


def test_a_started_run_is_requested_as_a_job_and_wakes_only_the_gateway(
    site: Site, slurm: BatchSite, scheduler: Scheduler, in_redis: BrokerView
) -> None:
    (run_id,) = site.add_runs([1, 2])
    scheduler.step({"run"})
    job = slurm.wanted()
    assert (job.run_id, [node.name for node in job.nodes], job.time_limit_seconds) == (run_id, ["n1", "n2"], 60.0)
    assert len(in_redis.take(f"node.{slurm.gateway_id}")) == 1
    assert [in_redis.take(f"node.{node_id}") for node_id in site.node_ids] == [[], []]


def test_a_job_is_wanted_until_it_is_listed_and_waits_as_long_as_its_queue_wants(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1, 2])
    scheduler.step({"run"})
    assert slurm.wanted() == slurm.wanted()
    job = slurm.wanted()
    assert slurm.list_job(job, JobState.PENDING, "Resources").submit == ()
    step_for(slurm, scheduler, 900)
    assert site.run(run_id).state == "active"
    assert [site.node(number).problem for number in (1, 2)] == [None, None]
    assert why(site, run_id) == "Slurm job 12 waits: Resources"


def test_an_agent_in_the_job_claims_and_finishes_like_any_other(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    agent = site.agent(1)
    agent.hello(instance="instance-job-12")
    agent.claim(slurm.offer(job))
    assert why(site, run_id) is None
    agent.finish(slurm.offer(job))
    assert site.run(run_id).state == "finished"
    slurm.list_job(job, JobState.ENDED, "COMPLETED", end=JobEnd.DONE)
    assert slurm.row(job).is_over
    assert slurm.report().cancel == ()


def test_a_job_that_starts_twice_runs_once(site: Site, slurm: BatchSite, scheduler: Scheduler) -> None:
    site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    first, second = site.agent(1), site.agent(1)
    first.hello(instance="instance-job-12")
    first.claim(slurm.offer(job))
    second.instance = "instance-job-13"
    with raised(ORDER_TAKEN):
        second.claim(slurm.offer(job))


def test_a_second_job_for_the_same_attempt_is_cancelled_while_it_waits(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    assert slurm.list_job(job, JobState.PENDING, job_id="13").cancel == ("13",)
    assert slurm.row(job).job_id == "12"


def test_cancelling_a_run_that_waits_in_the_queue_cancels_the_job(
    site: Site, slurm: BatchSite, scheduler: Scheduler, cancel: Cancel
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING, "Priority")
    cancel(run_id)
    assert site.run(run_id).state == "cancelled"
    assert slurm.report().cancel == ("12",)
    slurm.list_job(job, JobState.ENDED, "CANCELLED", end=JobEnd.CANCELLED)
    assert slurm.row(job).is_over


def test_cancelling_a_run_that_was_not_submitted_yet_submits_nothing(
    site: Site, slurm: BatchSite, scheduler: Scheduler, cancel: Cancel
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    cancel(run_id)
    assert slurm.report().submit == ()


def test_cancelling_a_running_load_cancels_its_job_and_pokes_the_gateway(
    site: Site, slurm: BatchSite, scheduler: Scheduler, cancel: Cancel, in_redis: BrokerView
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    site.agent(1).claim(slurm.offer(job))
    in_redis.take(f"node.{slurm.gateway_id}")
    cancel(run_id)
    scheduler.step(set())
    assert in_redis.take(f"node.{slurm.gateway_id}")
    assert in_redis.take(f"node.{site.node_ids[0]}") == []
    assert slurm.report().cancel == ("12",)
    site.agent(1).finish(slurm.offer(job), Outcome.CANCELLED, reason="the batch system ended the job")
    assert site.run(run_id).state == "cancelled"


def test_a_job_cancelled_in_the_queue_ends_its_run_with_the_reason(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1, 2])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING)
    slurm.list_job(job, JobState.ENDED, "CANCELLED", end=JobEnd.CANCELLED)
    run = site.run(run_id)
    assert (run.state, run.reason_code) == ("cancelled", "batch_cancelled")
    assert run.reason is not None
    assert "Slurm job 12 was cancelled" in run.reason


def test_a_job_that_failed_before_its_order_was_claimed_is_retried_a_limited_number_of_times(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1])
    for number in range(DECLINES_FORGIVEN + 1):
        scheduler.step({"run"})
        job = slurm.wanted()
        slurm.list_job(job, JobState.RUNNING, job_id=str(number + 1))
        slurm.list_job(job, JobState.ENDED, "FAILED, NonZeroExitCode", end=JobEnd.FAILED, job_id=str(number + 1))
        with raised(ORDER_WITHDRAWN):
            site.agent(1).claim(slurm.offer(job))
        step_for(slurm, scheduler, 5 * 2**number if number < 4 else 60)
    run = site.run(run_id)
    assert (run.state, run.reason_code) == ("failed", "batch_ended")
    assert run.reason is not None
    assert "FAILED, NonZeroExitCode" in run.reason


def test_the_end_of_a_job_ends_a_claimed_order_only_once_its_node_is_silent(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1], attempts=1)
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    agent, offer = site.agent(1), slurm.offer(job)
    agent.claim(offer)
    agent.say(offer, OrderState.RUNNING, started_at=site.clock())
    slurm.list_job(job, JobState.ENDED, "TIMEOUT", end=JobEnd.TIME_LIMIT)
    assert site.run(run_id).state == "active"
    step_for(slurm, scheduler, SILENT_AFTER.total_seconds() + 15)
    run = site.run(run_id)
    assert (run.state, run.reason_code) == ("failed", "batch_time_limit")
    assert run.reason is not None
    assert "Slurm job 12 reached its time limit (TIMEOUT), and the node is silent" in run.reason


def test_a_job_that_lost_its_node_frees_nothing(site: Site, slurm: BatchSite, scheduler: Scheduler) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    site.agent(1).claim(slurm.offer(job))
    slurm.hosts[0] = SeenHost(name="n1", is_up=False, words="down*")
    slurm.list_job(job, JobState.ENDED, "NODE_FAIL", end=JobEnd.NODE_FAILED)
    step_for(slurm, scheduler, 300)
    assert site.run(run_id).state == "active"
    assert site.node(1).problem == "Slurm says: down*"
    site.agent(1).hello(instance="instance-after-boot", boot_id="boot-5678")
    assert site.run(run_id).state == "waiting", "its report after the next boot is the evidence"


def test_a_refused_job_shows_why_its_run_does_not_start(site: Site, slurm: BatchSite, scheduler: Scheduler) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    assert slurm.report((job, "sbatch: error: invalid partition specified: bench")).submit == ()
    run = site.run(run_id)
    assert (run.state, run.declines, run.reason_code) == ("waiting", 1, "submit_refused")
    waits = why(site, run_id)
    assert waits is not None
    assert "Slurm refused the job: sbatch: error: invalid partition specified: bench" in waits


def test_idle_nodes_are_online_through_the_gateway_and_silent_without_it(
    site: Site, slurm: BatchSite, scheduler: Scheduler, clock: MovedClock
) -> None:
    step_for(slurm, scheduler, 120)
    (run_id,) = site.add_runs([1])
    assert site.start() == [run_id]
    clock.move(SILENT_AFTER.total_seconds() + 1)
    (other_id,) = site.add_runs([2])
    assert site.start() == []
    waits = why(site, other_id)
    assert waits is not None
    assert "Gateway login1 has been silent since" in waits


def test_a_batch_system_that_does_not_answer_ends_no_job_and_is_named(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING)
    assert slurm.report(problem="squeue: Unable to contact slurm controller").cancel == ()
    assert slurm.row(job).state == "pending"
    waits = why(site, run_id)
    assert waits is not None
    assert "gateway login1: squeue: Unable to contact slurm controller" in waits
    slurm.report()
    assert why(site, run_id) == "Slurm job 12 waits"


def test_nodes_that_the_batch_system_would_give_nothing_are_passed_over_for_as_long(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    slurm.hosts[0] = SeenHost(name="n1", is_up=False, words="drained")
    slurm.report()
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    assert site.run(run_id).state == "waiting"
    waits = why(site, run_id)
    assert waits is not None
    assert "Node n1: Slurm says: drained" in waits
    slurm.hosts[0] = SeenHost(name="n1", is_up=True, words="idle")
    slurm.report()
    scheduler.step({"node"})
    assert site.run(run_id).state == "active"


def test_an_agent_may_follow_one_of_another_boot_where_the_gateway_spoke_for_the_node(
    site: Site, slurm: BatchSite
) -> None:
    slurm.report()
    site.agent(1).hello(instance="instance-other", boot_id="boot-5678")
    assert site.node(1).boot_id == "boot-5678"


def test_the_job_of_an_ended_attempt_that_does_not_go_is_cancelled(
    site: Site, slurm: BatchSite, scheduler: Scheduler, clock: MovedClock
) -> None:
    site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.RUNNING)
    site.agent(1).claim(slurm.offer(job))
    site.agent(1).finish(slurm.offer(job))
    assert slurm.report().cancel == ()
    clock.move(LINGERS.total_seconds() + 1)
    assert slurm.report().cancel == ("12",)


def test_the_time_until_a_gang_s_job_starts_dissolves_nothing_and_the_time_after_it_does(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1, 2])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING)
    step_for(slurm, scheduler, 600)
    slurm.list_job(job, JobState.RUNNING)
    site.agent(1).claim(slurm.offer(job, 1))
    step_for(slurm, scheduler, 130)
    run = site.run(run_id)
    assert (run.declines, run.reason_code) == (1, "not_together")


def test_a_directly_started_run_has_no_job(site: Site, scheduler: Scheduler) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    with site.database.transaction() as session:
        (attempt,) = reading.attempts(session, run_id)
    assert attempt.batch_job is None
    assert why(site, run_id) is None


def test_an_attempt_shows_its_job(site: Site, slurm: BatchSite, scheduler: Scheduler, clock: MovedClock) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    clock.now += timedelta(seconds=1)
    slurm.list_job(job, JobState.RUNNING)
    with site.database.transaction() as session:
        (attempt,) = reading.attempts(session, run_id)
    assert attempt.batch_job is not None
    shown = attempt.batch_job
    assert (shown.system, shown.job_id, shown.state, shown.started_at) == ("slurm", "12", "running", clock())


def test_a_job_still_queued_near_a_maintenance_window_is_cancelled_and_its_run_waits_for_the_end_of_it(
    site: Site, slurm: BatchSite, scheduler: Scheduler, clock: MovedClock
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING, "Resources")
    site.change(
        "INSERT INTO blackout (cluster_id, starts_at, ends_at, reason) VALUES (:cluster, :start, :end, 'works')",
        cluster=site.cluster_id,
        start=clock() + timedelta(seconds=60),
        end=clock() + timedelta(hours=1),
    )
    assert slurm.report().cancel == ("12",)
    assert site.run(run_id).state == "waiting"
    scheduler.step({"freed"})
    assert slurm.report().submit == ()


def test_a_job_has_time_for_the_wait_until_its_node_is_quiet(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    site.add_runs([1])
    site.change('UPDATE campaign SET plan = \'{"quiet": "wait", "quiet_wait_seconds": 1800}\'')
    scheduler.step({"run"})
    assert slurm.wanted().time_limit_seconds == 1860.0


def test_no_run_waits_for_the_end_of_a_job_that_has_not_started(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    """Meanwhile a gang that also needs the node of that job reserves nothing: the other node keeps working."""
    (waiting,) = site.add_runs([1], limit=60.0)
    scheduler.step({"run"})
    slurm.list_job(slurm.wanted(), JobState.PENDING, "Resources")
    step_for(slurm, scheduler, 300)
    gang, single = site.add_runs([1, 2], [2], limit=3600.0)
    scheduler.step({"run"})
    assert site.states([waiting, gang, single]) == ["active", "waiting", "active"]

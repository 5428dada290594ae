"""The service itself, by what PostgreSQL knows: scheduler, worker, runs, sealed secrets, people's proofs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.pulse import WORKER_LATE_AFTER
from iotide_server.kit.vault import SealBrokenError, Vault
from iotide_server.kit.wake import is_scheduled
from iotide_server.kit.work import FAILING
from iotide_server.monitoring import repository
from iotide_server.monitoring.doctor.findings import Finding, fine, note, some, warning, wrong
from iotide_wire.units import format_seconds

_SEALED: Final = text("SELECT name, sealed FROM channel WHERE sealed IS NOT NULL ORDER BY name")
_FAILURES: Final = text(
    f"SELECT kind, key, failure FROM work WHERE done_version < version AND {FAILING}"  # noqa: S608 - a constant of ours
    " ORDER BY kind, key LIMIT 100"
)
_ADMINISTRATORS: Final = text(
    "SELECT count(*) FROM user_account JOIN role_grant ON user_id = user_account.id"
    " WHERE disabled_at IS NULL AND role = 'admin' AND cluster_id IS NULL"
)
_ENDLESS_TOKENS: Final = text(
    "SELECT count(*) FROM api_token JOIN user_account ON user_account.id = api_token.user_id"
    " WHERE disabled_at IS NULL AND revoked_at IS NULL AND expires_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What PostgreSQL knows."""

    is_scheduled: bool
    # for how long the oldest piece of work has been due; negative where it is not due yet, None where no scheduler ever
    # asked for any
    work_late: timedelta | None
    failures: Sequence[str]  # of work that failed by a fault, in words
    overdue_runs: int
    # name of each channel with a secret, and whether our key opens it; None: there is no key
    sealed: Sequence[tuple[str, bool | None]]
    administrators: int  # of all clusters, who may sign in
    endless_tokens: int  # API tokens that never expire


def read_service(session: Session, vault: Vault | None, now: datetime) -> ServiceFacts:
    """Ask for it; `now` is the server's time."""
    due = [row.due_since for row in session.execute(repository.WORK)]
    return ServiceFacts(
        is_scheduled=is_scheduled(session),
        work_late=max((now - since for since in due), default=None),
        failures=[f"{row.kind} {row.key}: {row.failure}" for row in session.execute(_FAILURES)],
        overdue_runs=sum(row.number for row in session.execute(repository.OVERDUE)),
        sealed=[(row.name, _opens(vault, row.sealed)) for row in session.execute(_SEALED)],
        administrators=session.scalars(_ADMINISTRATORS).one(),
        endless_tokens=session.scalars(_ENDLESS_TOKENS).one(),
    )


def _opens(vault: Vault | None, sealed: str) -> bool | None:
    if vault is None:
        return None
    try:
        vault.open(sealed)
    except SealBrokenError:
        return False
    return True


def judge_service(facts: ServiceFacts) -> Iterator[Finding]:
    """All that concerns the service."""
    yield _scheduler(is_there=facts.is_scheduled)
    yield _worker(facts.work_late, is_scheduled=facts.is_scheduled)
    if facts.failures:
        sentence = f"work that failed by a fault: {some(facts.failures)}"
        remedy = "look into the worker's log; it is tried again after longer and longer pauses, of at most six hours"
        yield warning("work_failing", sentence, remedy)
    if facts.overdue_runs:
        sentence = f"{facts.overdue_runs} active runs are past their time limit, and nothing was heard of their end"
        yield warning("runs_overdue", sentence, "look at their nodes; a silent one can be called dead on its page")
    yield _vault(facts.sealed)
    yield _administrators(facts.administrators)
    if facts.endless_tokens:
        sentence = f"{facts.endless_tokens} API tokens never expire"
        yield warning("api_tokens", sentence, "revoke those that nobody uses, and make new ones with an end")


def _scheduler(*, is_there: bool) -> Finding:
    if is_there:
        return fine("scheduler", "a scheduler works")
    remedy = "start it: `iotide-server scheduler`, or the unit or container that does"
    return wrong("scheduler", "no scheduler works: nothing starts", remedy)


def _worker(late: timedelta | None, *, is_scheduled: bool) -> Finding:
    if late is not None and late >= WORKER_LATE_AFTER:
        late_seconds = format_seconds(late.total_seconds())
        sentence = f"server work has been due for {late_seconds}: points, analysis and messages lag behind"
        return wrong("worker", sentence, "start a worker, `iotide-server worker`, or look into its log and at Redis")
    if late is None or not is_scheduled:
        sentence = "not checked: no scheduler asks the worker for anything"
        return note("worker", sentence, "start the scheduler, then run the doctor again after a minute")
    return fine("worker", "the worker does what is due")


def _vault(sealed: Sequence[tuple[str, bool | None]]) -> Finding:
    keyless = [name for name, opens in sealed if opens is None]
    broken = [name for name, opens in sealed if opens is False]
    remedy = "bring the old IOTIDE_VAULT_KEY back, or enter the secrets of these channels again"
    if keyless:
        return wrong("vault", f"there is no key for the secrets of the channels {some(keyless)}", remedy)
    if broken:
        return wrong("vault", f"our key does not open the secrets of the channels {some(broken)}", remedy)
    return fine("vault", "the secrets of all channels can be opened")


def _administrators(number: int) -> Finding:
    if number == 0:
        return wrong("administrators", "nobody is administrator of all clusters", "run `iotide-server admin-link`")
    return fine("administrators", f"administrators of all clusters: {number}")

"""Checks of the service, by its database."""

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
    is_scheduled: bool
    # of the oldest due work; negative: not due yet; None: no scheduler ever requested any
    work_late: timedelta | None
    failures: Sequence[str]
    overdue_runs: int
    # by channel with a secret, whether our key opens it; None: there is no key
    sealed: Sequence[tuple[str, bool | None]]
    administrators: int
    endless_tokens: int


def read_service(session: Session, vault: Vault | None, now: datetime) -> ServiceFacts:
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
    yield _scheduler(is_there=facts.is_scheduled)
    yield _worker(facts.work_late, is_scheduled=facts.is_scheduled)
    if facts.failures:
        sentence = f"failed work: {some(facts.failures)}"
        remedy = "check the worker's log; the worker retries with growing pauses of up to six hours"
        yield warning("work_failing", sentence, remedy)
    if facts.overdue_runs:
        sentence = f"{facts.overdue_runs} active runs are past their time limit, and their end was not reported"
        yield warning("runs_overdue", sentence, "check their nodes; mark a silent one as dead on its page")
    yield _vault(facts.sealed)
    yield _administrators(facts.administrators)
    if facts.endless_tokens:
        sentence = f"{facts.endless_tokens} API tokens never expire"
        yield warning("api_tokens", sentence, "revoke unused ones, and create new ones with an expiry date")


def _scheduler(*, is_there: bool) -> Finding:
    if is_there:
        return fine("scheduler", "a scheduler is running")
    remedy = "start it: `iotide-server scheduler`, or its unit or container"
    return wrong("scheduler", "no scheduler is running: no run starts", remedy)


def _worker(late: timedelta | None, *, is_scheduled: bool) -> Finding:
    if late is not None and late >= WORKER_LATE_AFTER:
        late_seconds = format_seconds(late.total_seconds())
        sentence = f"server work is {late_seconds} late: points, analysis and messages are delayed"
        return wrong("worker", sentence, "start a worker, `iotide-server worker`, or check its log and Redis")
    if late is None or not is_scheduled:
        sentence = "not checked: no scheduler requests work"
        return note("worker", sentence, "start the scheduler, then run the doctor again after a minute")
    return fine("worker", "the worker is up to date")


def _vault(sealed: Sequence[tuple[str, bool | None]]) -> Finding:
    keyless = [name for name, opens in sealed if opens is None]
    broken = [name for name, opens in sealed if opens is False]
    remedy = "restore the old IOTIDE_VAULT_KEY, or enter the secrets of these channels again"
    if keyless:
        return wrong("vault", f"IOTIDE_VAULT_KEY is not set, but these channels have secrets: {some(keyless)}", remedy)
    if broken:
        return wrong("vault", f"IOTIDE_VAULT_KEY cannot decrypt the secrets of these channels: {some(broken)}", remedy)
    return fine("vault", "the secrets of all channels can be decrypted")


def _administrators(number: int) -> Finding:
    if number == 0:
        return wrong("administrators", "no user is an admin of all clusters", "run `iotide-server admin-link`")
    return fine("administrators", f"admins of all clusters: {number}")

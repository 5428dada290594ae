"""Performs one operation of the root program, from a checked request to its record, in a process of its own."""

import time
from collections.abc import Callable
from typing import Any, Final

from iotide_agent.runner.headroom import set_aside
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.making import Maker
from iotide_agent.scratch.mounting import Mounter
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.recovery import Recovery
from iotide_agent.scratch.refusals import CommandFailedError, DirtyError, ScratchRefusedError
from iotide_agent.scratch.requests import ScratchRequest, Verb
from iotide_agent.scratch.sets import DiskSet, ScratchConfig, read_config
from iotide_agent.scratch.site import Site

DONE: Final = "done"
_MOST_REASON: Final = 1000
"""Characters, as in what the agent sends. Any user can choose long paths."""
_OUTCOMES: Final = (
    (ScratchRefusedError, "refused"),
    (DirtyError, "dirty"),
    (CommandFailedError, "failed"),
    (OSError, "failed"),
)


def perform(site: Site, request: ScratchRequest, packet: bytes, journal: Journal) -> dict[str, Any]:
    """Perform one operation under the lock. Return its record, which is also stored.

    `outcome` is `done`; `refused`, if nothing was written; `failed`; or `dirty`, if wiping has not reached its proof.
    """
    head = {"verb": str(request.verb), "order": request.order, "fence": request.fence, "began_s": int(time.time())}
    outcome, reason, answer = DONE, "", {}
    is_known = False
    try:
        _set_in(read_config(site.config_file), request)
        is_known = True
        with held_lock(site.lock_file, site.patience_seconds) as lock:
            # Root may have changed the list while this waited.
            config = read_config(site.config_file)
            found = _set_in(config, request)
            _set_aside(site)
            records = Records(site.state, request.set)
            before = _written(site, found)
            try:
                answer = _act(site, Commands(journal, lock), config, request, packet)
            finally:
                records.add_written(sum(_written(site, found).values()) - sum(before.values()))
    except tuple(kind for kind, _ in _OUTCOMES) as error:
        outcome = next(word for kind, word in _OUTCOMES if isinstance(error, kind))
        reason = str(error)[:_MOST_REASON]
    record = {**head, "outcome": outcome, "reason": reason, "answer": answer, "commands": journal.commands}
    journal.write("ended", verb=str(request.verb), set=request.set, outcome=outcome, reason=reason)
    if is_known:
        try:
            Records(site.state, request.set).write_last(record)
        except OSError as error:
            journal.write("not_recorded", because=str(error))
    return record


def _set_in(config: ScratchConfig, request: ScratchRequest) -> DiskSet:
    if request.set not in config.sets:
        raise ScratchRefusedError(f"scratch.toml of this node has no set {request.set}")
    return config.sets[request.set]


def _set_aside(site: Site) -> None:
    """Reserve space for the records: bytes that could not be counted would pass the limit of a day."""
    try:
        set_aside(site.state)
    except OSError as error:
        reason = f"{site.state} has no space for the records: {error.strerror}; free some there"
        raise ScratchRefusedError(reason) from error


def _act(
    site: Site, commands: Commands, config: ScratchConfig, request: ScratchRequest, packet: bytes
) -> dict[str, Any]:
    found = config.sets[request.set]
    records = Records(site.state, found.name)
    mounter, recovery = Mounter(site, commands, found, records), Recovery(site, commands, found)
    acts: dict[Verb, Callable[[], dict[str, Any]]] = {
        Verb.MAKE: lambda: Maker(site, commands, found, records).make(request, packet),
        Verb.MOUNT: lambda: mounter.mount(request),
        Verb.UNMOUNT: lambda: mounter.unmount(request),
        Verb.EXPORT: lambda: mounter.export(request, config),
        Verb.UNEXPORT: lambda: mounter.unexport(request),
        Verb.WIPE: lambda: recovery.wipe(request),
        Verb.RECOVER: lambda: recovery.recover(request),
    }
    return acts[request.verb]()


def _written(site: Site, found: DiskSet) -> dict[str, int]:
    names = {name: site.sysfs.identity(name).device for name in site.sysfs.disks()}
    return {device: site.sysfs.written_bytes(name) for name, device in names.items() if device in found.devices}

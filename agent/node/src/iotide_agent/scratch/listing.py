"""Lists sets, disks, marks, and disks that could be listed, for root and the agent. Reads only."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from iotide_agent.scratch.disk import Disk, names_of
from iotide_agent.scratch.mark import Adoption
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import DiskSet, ScratchConfig
from iotide_agent.scratch.site import Site

_PAGE_BYTES: Final = 64 * 1024
"""A page has more with a single large set only: one of 64 disks takes some 50 KiB."""


def all_sets(site: Site, config: ScratchConfig) -> list[dict[str, Any]]:
    return [_set(site, found) for found in config.sets.values()]


def page_of_sets(site: Site, config: ScratchConfig, first: int) -> dict[str, Any]:
    """Return sets from a number on, as many as one answer holds, and the number of the `next` one; None for none."""
    names = list(config.sets)
    shown: list[dict[str, Any]] = []
    size_bytes = 0
    for number in range(first, len(names)):
        row = _set(site, config.sets[names[number]])
        size_bytes += len(json.dumps(row))
        if shown and size_bytes > _PAGE_BYTES:
            return {"sets": shown, "next": number}
        shown.append(row)
    return {"sets": shown, "next": None}


def unlisted(site: Site, config: ScratchConfig) -> list[dict[str, Any]]:
    """Return adopted disks that scratch.toml does not list: they are left alone until root releases them."""
    found = []
    for name in site.sysfs.disks():
        device = site.sysfs.identity(name).device
        if device and config.set_of(device) is None and site.sysfs.why_unfit(name) is None:
            shown = disk_row(site, device)
            if "id" in shown:
                found.append(shown)
    return found


def candidates(site: Site, config: ScratchConfig) -> list[dict[str, Any]]:
    """Return disks that are fit to be listed in scratch.toml; whether they are free is checked by an adoption."""
    found = []
    for name in site.sysfs.disks():
        identity = site.sysfs.identity(name)
        if site.sysfs.why_unfit(name) is None and config.set_of(identity.device) is None:
            row = {"device": identity.device, "name": name, "serial": identity.serial, "model": identity.model}
            found.append(row | {"size_bytes": identity.size_bytes})
    return found


def disk_row(site: Site, device: str) -> dict[str, Any]:
    """Return one disk: what its mark says, and why it cannot be used, if so."""
    row: dict[str, Any] = {"device": device, "problem": None}
    try:
        disk = Disk(site.sysfs, device, locks=False)
    except (ScratchRefusedError, OSError) as error:
        return row | _missing(site, device, str(error))
    try:
        identity = disk.identity
        row |= asdict(identity)
        row |= {"name": disk.name, "state": "not adopted", "bay": site.sysfs.bay(disk.name)}
        row |= _adopted(disk.any_adoption())
        state = disk.state()
        row |= {"state": str(state.condition), "order": state.order, "fence": state.fence, "variant": state.variant}
        row["since_s"] = state.since_s
        disk.check_ready(site)
    except (ScratchRefusedError, OSError) as error:
        row["problem"] = str(error)
    finally:
        disk.close()
    return row


def head_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an operation without its answer and commands."""
    return {key: value for key, value in record.items() if key not in {"answer", "commands"}}


def _missing(site: Site, device: str, problem: str) -> dict[str, Any]:
    """Return why a disk cannot be opened: `lost` if root adopted it and it is not there, with its last known bay."""
    try:
        recorded = site.adoptions.of(device)
    except ScratchRefusedError as error:
        recorded, problem = None, f"{problem}; {error}"
    if recorded is None or names_of(site.sysfs, device):
        return {"state": "absent", "problem": problem}
    adoption, bay = recorded.adoption, recorded.bay
    where = f"; it was in bay {bay} when it was adopted" if bay else ""
    problem = f"{adoption.serial or device} is adopted, but not there{where}"
    return asdict(adoption.identity) | _adopted(adoption) | {"bay": bay, "state": "lost", "problem": problem}


def _adopted(adoption: Adoption) -> dict[str, Any]:
    return {"id": adoption.id, "adopted_at_s": adoption.adopted_at_s, "adopted_by": adoption.adopted_by}


def _set(site: Site, found: DiskSet) -> dict[str, Any]:
    last = Records(site.state, found.name).last()
    return {
        "set": found.name,
        "disks": [disk_row(site, device) for device in found.devices],
        "mount": str(site.mounts / found.name),
        "last": None if last is None else head_of(last),
    }

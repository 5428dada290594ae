"""Volumes of RAID controllers without storcli: MegaCli of older MegaRAID, and tw_cli of 3ware."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from iotide_agent.probes.base import Texts, known, labelled, number, text_of, unavailable_fact
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.facts import Facts
from iotide_wire.units import KIB, MIB

_MEGACLI: Final = tuple(
    CommandWant((tool, "-LDInfo", "-Lall", "-aALL", "-NoLog"), "MegaCli of the controller's vendor")
    for tool in ("MegaCli64", "MegaCli", "megacli")
)
_TW_PACKAGE: Final = "tw_cli of the controller's vendor, which is part of 3DM2"
_TW_LIST: Final = CommandWant(("tw_cli", "show"), _TW_PACKAGE)
TW_DRIVERS: Final = frozenset({"3w-9xxx", "3w-sas", "3w-xxxx"})
_TARGET: Final = re.compile(r"/target\d+:\d+:(\d+)/")
_MEGACLI_DRIVE: Final = re.compile(r"^Virtual (?:Drive|Disk): *\d+ *\(Target Id: *(\d+)\)", re.MULTILINE)
_MEGACLI_LEVEL: Final = re.compile(r"Primary-(\d+), Secondary-(\d+)")
_TW_CONTROLLER: Final = re.compile(r"^(c\d+) ", re.MULTILINE)
_SIZE: Final = re.compile(r"(\d{1,6}) ?(KB|K|MB|M)", re.ASCII)
_FACTORS: Final = {"K": KIB, "M": MIB}


def megacli_wants(texts: Texts) -> Iterator[Want]:
    """Yield one name of the program after another, until one answers."""
    for want in _MEGACLI:
        yield want
        if not isinstance(texts.get(want, Unavailable("")), Unavailable):
            return


def megacli_facts(path: str, texts: Texts) -> Facts:
    """Return facts of the virtual drive with the disk's SCSI target in `path`, or why there are none.

    MegaCli prints no WWN, so a target that several controllers have is not known.
    """
    answer = _first_answer(_MEGACLI, texts)
    if isinstance(answer, Unavailable):
        return {"raid.level": unavailable_fact(answer)}
    target = _TARGET.search(path)
    drives = [fields for number_, fields in _megacli_drives(answer) if target and number_ == target[1]]
    return _megacli_drive(drives[0]) if len(drives) == 1 else {}


def tw_wants(texts: Texts) -> Iterator[Want]:
    yield _TW_LIST
    yield from _tw_units(texts)


def tw_facts(path: str, texts: Texts) -> Facts:
    """Return facts of the unit with the disk's SCSI target in `path`, if there is one controller."""
    answer = texts.get(_TW_LIST, Unavailable("tw_cli was not asked"))
    if isinstance(answer, Unavailable):
        return {"raid.level": unavailable_fact(answer)}
    controllers, target = _tw_units(texts), _TARGET.search(path)
    if len(controllers) != 1 or target is None:
        return {}
    rows = lines_of(text_of(texts, controllers[0]))
    unit = f"u{target[1]}"
    found = read_rows("tw_cli", [row for row in rows if row.split()[0] == unit], _tw_unit)
    ports = sum(row.startswith("p") and unit in row.split() for row in rows)
    return {**found[0], **known({"raid.disk_count": ports or None})} if found else {}


def _first_answer(wants: Iterable[CommandWant], texts: Texts) -> str | Unavailable:
    answers = [texts[want] for want in wants if want in texts]
    first = answers[0] if answers else Unavailable("MegaCli was not asked")
    return next((text for text in answers if not isinstance(text, Unavailable)), first)


def _megacli_drives(answer: str) -> Iterator[tuple[str, dict[str, str]]]:
    heads = list(_MEGACLI_DRIVE.finditer(answer))
    ends = [*(head.start() for head in heads[1:]), len(answer)]
    for head, end in zip(heads, ends, strict=False):
        yield head[1], labelled(answer[head.end() : end])


def _megacli_drive(fields: dict[str, str]) -> Facts:
    """Levels 10, 50 and 60 are a primary level in several spans; a level 1 in spans is 10."""
    level = _MEGACLI_LEVEL.search(fields.get("RAID Level", ""))
    spans = number(fields.get("Span Depth", "").partition("-")[0]) or 1
    per_span = number(fields.get("Number Of Drives per span") or fields.get("Number Of Drives", "").partition(":")[0])
    return known(
        {
            "raid.level": f"RAID{level[1]}{'0' * (spans > 1)}" if level else None,
            "raid.strip_bytes": _bytes(fields.get("Strip Size") or fields.get("Stripe Size") or ""),
            "raid.disk_count": per_span * spans if per_span else None,
            "raid.cache": fields.get("Current Cache Policy", "")[:100],
            "raid.disk_cache": fields.get("Disk Cache Policy", "")[:100],
        }
    )


def _tw_units(texts: Texts) -> list[CommandWant]:
    names = _TW_CONTROLLER.findall(text_of(texts, _TW_LIST))
    return [CommandWant(("tw_cli", f"/{name}", "show"), _TW_PACKAGE) for name in names]


def _tw_unit(row: str) -> Facts:
    """Read unit, type, status, rebuilt, verified, strip, size, cache and automatic verification."""
    _, kind, _, _, _, strip, _, cache, _ = row.split()
    return known(
        {"raid.level": kind.replace("-", ""), "raid.strip_bytes": _bytes(strip), "raid.cache": f"tw_cli {cache}"}
    )


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _FACTORS[found[2][0]] if found else None

"""Lustre: layout of new files in the directory, number of targets and client settings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, on_mount, scaled, text_of, unavailable_fact
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import MIB

_PACKAGE: Final = "lustre-client"
_FIELD: Final = re.compile(
    r"\b(?:lmm_)?(stripe_count|stripe_size|pattern|pool|stripe_offset)s?:[ \t]*(\S+)"
    r"|\blcme_(?:extent\.)?(id|mirror_id|e_start|e_end):[ \t]*(\S+)"
)
_MIRRORS: Final = re.compile(r"\blcm_mirror_count:[ \t]*(\d{1,5})\b", re.ASCII)
_DIRECTORY_FIELD: Final = re.compile(r"\blmv_(stripe_count|stripe_offset|hash_type):[ \t]*(\S+)")
_TARGET: Final = re.compile(r"(\S+?)-(OST|MDT)([0-9a-f]{4})_UUID")
_INACTIVE: Final = re.compile(r"(\S+-)?(OST|MDT)[0-9a-f]{4}(_UUID)?\s*:")
_PATTERNS: Final = {"0": "default", "1": "raid0", "2": "mdt"}
"""LLAPI_LAYOUT_* as numbers, which some releases print."""
_USUAL_PATTERNS: Final = frozenset({"", "default", "raid0"})
_SETTINGS: Final = {
    "osc.{name}-OST*.checksums": ("lustre.checksums", 1),
    "osc.{name}-OST*.max_rpcs_in_flight": ("lustre.max_rpcs_in_flight", 1),
    "osc.{name}-OST*.max_pages_per_rpc": ("lustre.max_pages_per_rpc", 1),
    "osc.{name}-OST*.max_dirty_mb": ("lustre.max_dirty_bytes", MIB),
    "llite.{name}-*.max_read_ahead_mb": ("lustre.max_read_ahead_bytes", MIB),
}


@dataclass(slots=True)
class _Component:
    """Layout of one extent, as printed; a plain layout is one component without an end."""

    values: dict[str, str] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        printed = self.values.get("pattern", "")
        return _PATTERNS.get(printed, printed)

    def shown(self, *, is_mirrored: bool) -> str:
        """Return for instance `0-4194304: 2 x 4194304`: two stripes of 4 MiB in the first 4 MiB.

        The mirror, an unusual pattern and the pool are added, for instance `mirror 1, 0-EOF: 2 x 1048576 in fast`.
        """
        start, end = self.values.get("e_start", "0"), self.values.get("e_end", "EOF")
        stripes = f"{start}-{end}: {self.values.get('stripe_count', '?')} x {self.values.get('stripe_size', '?')}"
        mirror = f"mirror {self.values.get('mirror_id', '?')}, " if is_mirrored else ""
        pattern = "" if self.pattern in _USUAL_PATTERNS else f" {self.pattern}"
        pool = f" in {self.values['pool']}" if "pool" in self.values and "e_start" in self.values else ""
        return f"{mirror}{stripes}{pattern}{pool}"


_layout: Final = on_mount(_PACKAGE, "lfs", "getstripe", "-d", "{0.directory}")
_directory: Final = on_mount(_PACKAGE, "lfs", "getdirstripe", "{0.directory}")
_new_directories: Final = on_mount(_PACKAGE, "lfs", "getdirstripe", "-D", "{0.directory}")
_targets: Final = on_mount(_PACKAGE, "lfs", "df", "{0.mount_point}")
_VERSION: Final = CommandWant(("lctl", "get_param", "version"), _PACKAGE)


class LustreProbe(Probe):
    name: ClassVar[str] = "lustre"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_layout(mount), _directory(mount), _new_directories(mount), _targets(mount), _VERSION)
        yield from (_setting(mount, pattern) for pattern in _SETTINGS)
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The name is the identity, because MGS addresses depend on a node's network."""
        return {
            "lustre.mgs": mount.source.rpartition(":/")[0],
            **_layout_facts(texts.get(_layout(mount), Unavailable("lfs was not asked"))),
            **_directory_facts("lustre.directory", text_of(texts, _directory(mount))),
            **_directory_facts("lustre.new_directory", text_of(texts, _new_directories(mount))),
            **_target_facts(texts.get(_targets(mount), Unavailable("lfs was not asked")), _name(mount)),
            **_client_facts(mount, texts),
            **network.facts(_server(mount), texts),
            **shared(f"lustre:{_name(mount)}"),
        }


def _name(mount: Mount) -> str:
    return mount.source.rpartition(":/")[2].partition("/")[0]


def _server(mount: Mount) -> str:
    """`,` separates the NIDs of a server, `:` servers, `@` host and network."""
    return re.split(r"[,:@]", mount.source.rpartition(":/")[0])[0]


def _setting(mount: Mount, pattern: str) -> CommandWant:
    return CommandWant(("lctl", "get_param", "-n", pattern.format(name=_name(mount))), _PACKAGE)


def _layout_facts(layout: str | Unavailable) -> Facts:
    if isinstance(layout, Unavailable):
        return {"lustre.layout": unavailable_fact(layout)}
    components = [component for component in _components(layout) if "stripe_count" in component.values]
    if not components:
        return {"lustre.layout": "unavailable, because lfs getstripe printed no layout"}
    mirrors = _MIRRORS.search(layout)
    mirror_count = int(mirrors[1]) if mirrors else 1
    shown = (component.shown(is_mirrored=mirror_count > 1) for component in components)
    facts: Facts = {"lustre.layout": "; ".join(shown)[:2000], "lustre.component_count": len(components)}
    if len(components) > 1:
        return facts | known(_composite_facts(components, mirror_count))
    values = components[0].values
    found: dict[str, FactValue] = {
        # -1 stands for all targets; as an offset, for any target.
        "lustre.stripe_count": _signed(values.get("stripe_count")),
        "lustre.stripe_bytes": number(values.get("stripe_size")),
        "lustre.stripe_offset": _signed(values.get("stripe_offset")),
        "lustre.pattern": components[0].pattern,
        "lustre.pool": values.get("pool"),
    }
    return facts | known(found)


def _composite_facts(components: list[_Component], mirror_count: int) -> dict[str, FactValue]:
    """Data on MDT is a first component whose pattern is mdt."""
    patterns = sorted({component.pattern for component in components} - {""})
    pools = dict.fromkeys(component.values["pool"] for component in components if "pool" in component.values)
    on_mdt = next((component for component in components if component.pattern == "mdt"), None)
    return {
        "lustre.mirror_count": mirror_count if mirror_count > 1 else None,
        "lustre.pattern": ", ".join(patterns),
        "lustre.pool": ", ".join(pools),
        "lustre.data_on_mdt_bytes": number(on_mdt.values.get("e_end")) if on_mdt else None,
    }


def _directory_facts(prefix: str, printed: str) -> Facts:
    """Return the MDTs of a directory's entries. A count of 0 is a directory that is not striped."""
    found = dict(_DIRECTORY_FIELD.findall(printed))
    count = _signed(found.get("stripe_count"))
    return known(
        {
            f"{prefix}_mdt_count": 1 if count == 0 else count,
            f"{prefix}_mdt_index": _signed(found.get("stripe_offset")),
            f"{prefix}_hash": found.get("hash_type", "").partition(",")[0],
        }
    )


def _components(layout: str) -> Iterable[_Component]:
    """All releases use the same field names."""
    component = _Component()
    for match in _FIELD.finditer(layout):
        name, value = (match[1], match[2]) if match[1] else (match[3], match[4])
        is_next = name == "id" or (name == "e_start" and "id" not in component.values)
        if is_next and component.values:
            yield component
            component = _Component()
        if name in component.values:
            break
        component.values[name] = value
    yield component


def _signed(text: str | None) -> int | None:
    return -1 if text == "-1" else number(text)


def _target_facts(targets: str | Unavailable, name: str) -> Facts:
    if isinstance(targets, Unavailable):
        return {"lustre.ost_count": unavailable_fact(targets)}
    found = set(read_rows("lfs df", lines_of(targets), _target))
    kinds = [kind for owner, kind, _ in found if owner == name]
    if not kinds:
        return {"lustre.ost_count": "unavailable, because lfs df named no targets"}
    return {"lustre.ost_count": kinds.count("OST"), "lustre.mdt_count": kinds.count("MDT")}


def _target(line: str) -> tuple[str, str, str] | None:
    """Return file system, kind and index of an active target: an inactive one has a sentence in place of its size."""
    if line.startswith(("UUID", "filesystem_summary:", "#")) or _INACTIVE.match(line):
        return None
    uuid, size, *_ = line.split()
    found = _TARGET.fullmatch(uuid)
    if found is None or not size[0].isdecimal():
        raise ValueError(line)
    return found[1], found[2], found[3]


def _client_facts(mount: Mount, texts: Texts) -> Facts:
    version = re.search(r"(?:version=|lustre:)[ \t]*(\d\S*)", text_of(texts, _VERSION))
    facts: dict[str, FactValue] = {"lustre.version": version[1] if version else None}
    for pattern, (fact, factor) in _SETTINGS.items():
        lines = lines_of(text_of(texts, _setting(mount, pattern)))
        values = sorted(set(read_rows("lctl get_param", lines, partial(_scaled, factor=factor))))
        facts[fact] = values[0] if len(values) == 1 else ", ".join(map(str, values))
    return known(facts)


def _scaled(line: str, factor: int) -> int:
    """Newer releases print MiB with a fraction."""
    value = scaled(line.strip(), factor)
    if value is None:
        raise ValueError(line)
    return value

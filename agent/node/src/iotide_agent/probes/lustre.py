"""Lustre: the layout that new files get in the directory, how many targets there are, and what the client is set to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import MIB

_PACKAGE: Final = "lustre-client"
_FIELD: Final = re.compile(
    r"\b(?:lmm_)?(stripe_count|stripe_size|pattern|pool|stripe_offset)s?:[ \t]*(\S+)"
    r"|\blcme_extent\.(e_start|e_end):[ \t]*(\S+)"
)
_TARGET: Final = re.compile(r"^(\S+?)-(OST|MDT)([0-9a-f]{4})_UUID[ \t]+\d", re.MULTILINE)
_PATTERNS: Final = {"0": "default", "1": "raid0", "2": "mdt"}
"""LLAPI_LAYOUT_* as numbers, which some releases print."""
_SETTINGS: Final = {
    "osc.{name}-OST*.checksums": ("lustre.checksums", 1),
    "osc.{name}-OST*.max_rpcs_in_flight": ("lustre.max_rpcs_in_flight", 1),
    "osc.{name}-OST*.max_pages_per_rpc": ("lustre.max_pages_per_rpc", 1),
    "osc.{name}-OST*.max_dirty_mb": ("lustre.max_dirty_bytes", MIB),
    "llite.{name}-*.max_read_ahead_mb": ("lustre.max_read_ahead_bytes", MIB),
}
"""Parameters of the client by the pattern of their names; the facts and what turns them into base units."""


@dataclass(slots=True)
class _Component:
    """Layout of one extent, values as printed; a plain layout is one component without an end."""

    values: dict[str, str] = field(default_factory=dict)

    def shown(self) -> str:
        """`0-4194304: 2 x 4194304` for two stripes of 4 MiB in the first 4 MiB."""
        start, end = self.values.get("e_start", "0"), self.values.get("e_end", "EOF")
        return f"{start}-{end}: {self.values.get('stripe_count', '?')} x {self.values.get('stripe_size', '?')}"


_layout: Final = on_mount(_PACKAGE, "lfs", "getstripe", "-d", "{0.directory}")
_targets: Final = on_mount(_PACKAGE, "lfs", "df", "{0.mount_point}")
_VERSION: Final = CommandWant(("lctl", "get_param", "version"), _PACKAGE)


class LustreProbe(Probe):
    """Lustre clients."""

    name: ClassVar[str] = "lustre"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_layout(mount), _targets(mount), _VERSION)
        yield from (_setting(mount, pattern) for pattern in _SETTINGS)
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Known by the file system's name: the addresses of its MGS differ with the network that a node is on."""
        return {
            "lustre.mgs": mount.source.rpartition(":/")[0],
            **_layout_facts(texts.get(_layout(mount), Unavailable("lfs was not asked"))),
            **_target_facts(texts.get(_targets(mount), Unavailable("lfs was not asked")), _name(mount)),
            **_client_facts(mount, texts),
            **network.facts(_server(mount), texts),
            **shared(f"lustre:{_name(mount)}"),
        }


def _name(mount: Mount) -> str:
    """The file system's name; a directory of it may be mounted alone, as `mgs:/name/directory`."""
    return mount.source.rpartition(":/")[2].partition("/")[0]


def _server(mount: Mount) -> str:
    """Host of the first NID: `,` parts the NIDs of one server, `:` the servers, `@` host and network."""
    return re.split(r"[,:@]", mount.source.rpartition(":/")[0])[0]


def _setting(mount: Mount, pattern: str) -> CommandWant:
    return CommandWant(("lctl", "get_param", "-n", pattern.format(name=_name(mount))), _PACKAGE)


def _layout_facts(layout: str | Unavailable) -> Facts:
    if isinstance(layout, Unavailable):
        return {"lustre.layout": unavailable_fact(layout)}
    components = [component for component in _components(layout) if "stripe_count" in component.values]
    if not components:
        return {"lustre.layout": "unavailable, because lfs getstripe printed no layout"}
    facts: Facts = {
        "lustre.layout": "; ".join(component.shown() for component in components)[:2000],
        "lustre.component_count": len(components),
    }
    if len(components) > 1:
        return facts
    values = components[0].values
    pattern = values.get("pattern", "")
    found: dict[str, FactValue] = {
        # -1 stands for all targets, and as an offset for any target.
        "lustre.stripe_count": _signed(values.get("stripe_count")),
        "lustre.stripe_bytes": number(values.get("stripe_size")),
        "lustre.stripe_offset": _signed(values.get("stripe_offset")),
        "lustre.pattern": _PATTERNS.get(pattern, pattern),
        "lustre.pool": values.get("pool"),
    }
    return facts | known(found)


def _components(layout: str) -> Iterable[_Component]:
    """Those of the first file or directory in the text; the forms of all releases name the fields alike."""
    component = _Component()
    for match in _FIELD.finditer(layout):
        name, value = (match[1], match[2]) if match[1] else (match[3], match[4])
        if name == "e_start" and component.values:
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
    # One that is inactive has a sentence in place of its size and serves nobody.
    kinds = [kind for owner, kind, _ in set(_TARGET.findall(targets)) if owner == name]
    if not kinds:
        return {"lustre.ost_count": "unavailable, because lfs df named no targets"}
    return {"lustre.ost_count": kinds.count("OST"), "lustre.mdt_count": kinds.count("MDT")}


def _client_facts(mount: Mount, texts: Texts) -> Facts:
    version = re.search(r"(?:version=|lustre:)[ \t]*(\d\S*)", text_of(texts, _VERSION))
    facts: dict[str, FactValue] = {"lustre.version": version[1] if version else None}
    for pattern, (fact, factor) in _SETTINGS.items():
        # One value for each target; where they are not set alike, all are told.
        values = sorted({number(text) or 0 for text in text_of(texts, _setting(mount, pattern)).split()})
        facts[fact] = values[0] * factor if len(values) == 1 else ", ".join(str(value * factor) for value in values)
    return known(facts)

"""The node: host name, CPU, memory, kernel and page cache settings."""

from collections.abc import Iterable
from typing import Final

from iotide_agent.probes.base import Texts, named_numbers, number, text_of
from iotide_agent.probes.reader import DirectoryWant, FileWant, Want
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import MIB

MEMORY_STEP_BYTES: Final = 16 * MIB
"""Rounding, because the kernel's own memory differs slightly at each boot."""
_PLAIN_FILES: Final = {
    "host.name": "/proc/sys/kernel/hostname",
    "kernel.release": "/proc/sys/kernel/osrelease",
    "kernel.version": "/proc/sys/kernel/version",
    "machine.vendor": "/sys/class/dmi/id/sys_vendor",
    "machine.product": "/sys/class/dmi/id/product_name",
    "cpu.governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "clock.source": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
}
_CACHE_SETTINGS: Final = {
    "cache.dirty_background_bytes": ("dirty_background_bytes", 1),
    "cache.dirty_background_percent": ("dirty_background_ratio", 1),
    "cache.dirty_bytes": ("dirty_bytes", 1),
    "cache.dirty_expire_seconds": ("dirty_expire_centisecs", 100),
    "cache.dirty_percent": ("dirty_ratio", 1),
    "cache.dirty_writeback_seconds": ("dirty_writeback_centisecs", 100),
    "cache.swappiness": ("swappiness", 1),
    "cache.vfs_cache_pressure": ("vfs_cache_pressure", 1),
}
"""Name in the kernel, and the divisor: the kernel's ratios are percentages."""
_SIMULTANEOUS_THREADS: Final = FileWant("/sys/devices/system/cpu/smt/active")
_ON_OFF: Final = {"1": True, "0": False}
_CPUINFO: Final = FileWant("/proc/cpuinfo")
_MEMINFO: Final = FileWant("/proc/meminfo")
_OS_RELEASE: Final = FileWant("/etc/os-release")
_NUMA_NODES: Final = DirectoryWant("/sys/devices/system/node")


def wants(texts: Texts) -> Iterable[Want]:
    del texts
    yield from (_CPUINFO, _MEMINFO, _OS_RELEASE, _NUMA_NODES, _SIMULTANEOUS_THREADS)
    yield from (FileWant(path) for path in _PLAIN_FILES.values())
    yield from (_cache_setting(name) for name, _ in _CACHE_SETTINGS.values())


def facts(texts: Texts) -> Facts:
    system = named_numbers(text_of(texts, _OS_RELEASE))
    values: dict[str, FactValue] = {
        **{name: text_of(texts, FileWant(path)) for name, path in _PLAIN_FILES.items()},
        "os.name": system.get("PRETTY_NAME", ""),
        **_cpu_facts(text_of(texts, _CPUINFO)),
        "cpu.simultaneous_threads": _ON_OFF.get(text_of(texts, _SIMULTANEOUS_THREADS)),
        "cpu.numa_node_count": sum(name[4:].isdecimal() for name in text_of(texts, _NUMA_NODES).split()),
        "memory.total_bytes": _memory_bytes(text_of(texts, _MEMINFO)),
    }
    for fact, (name, divisor) in _CACHE_SETTINGS.items():
        found = number(text_of(texts, _cache_setting(name)))
        if found is not None:
            values[fact] = found if divisor == 1 else found / divisor
    return {name: value for name, value in values.items() if value not in {"", None}}


def _cache_setting(name: str) -> FileWant:
    return FileWant(f"/proc/sys/vm/{name}")


def _cpu_facts(cpuinfo: str) -> dict[str, FactValue]:
    lines = [line.partition(":") for line in cpuinfo.splitlines()]
    named: dict[str, str] = {}
    for key, _, value in lines:
        named.setdefault(key.strip(), value.strip())
    # ARM kernels give numbers; lscpu has its own table of names.
    model = named.get("model name") or named.get("cpu") or f"implementer {named.get('CPU implementer', 'unknown')}"
    return {"cpu.model": model, "cpu.count": sum(key.strip() == "processor" for key, _, _ in lines)}


def _memory_bytes(meminfo: str) -> int | None:
    fields = dict(line.split()[:2] for line in meminfo.splitlines() if len(line.split()) > 1)
    kibibytes = fields.get("MemTotal:", "")
    if not kibibytes.isdecimal():
        return None
    return int(kibibytes) * 1024 // MEMORY_STEP_BYTES * MEMORY_STEP_BYTES

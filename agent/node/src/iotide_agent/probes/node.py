"""The node itself: host name, processor, memory, kernel and the settings of its page cache."""

from collections.abc import Iterable
from typing import Final

from iotide_agent.probes.base import Texts, named_numbers, text_of
from iotide_agent.probes.reader import DirectoryWant, FileWant, Want
from iotide_wire.facts import Facts, FactValue

MEMORY_STEP_BYTES: Final = 16 * 1024**2
"""The kernel keeps some memory for itself, a little more or less at each boot, which is no news."""
_PLAIN_FILES: Final = {
    "host.name": "/proc/sys/kernel/hostname",
    "kernel.release": "/proc/sys/kernel/osrelease",
    "kernel.version": "/proc/sys/kernel/version",
    "machine.vendor": "/sys/class/dmi/id/sys_vendor",
    "machine.product": "/sys/class/dmi/id/product_name",
    "cpu.governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cpu.simultaneous_threads": "/sys/devices/system/cpu/smt/active",
    "clock.source": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
}
_CACHE_SETTINGS: Final = (
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "swappiness",
    "vfs_cache_pressure",
)
_CPUINFO: Final = FileWant("/proc/cpuinfo")
_MEMINFO: Final = FileWant("/proc/meminfo")
_OS_RELEASE: Final = FileWant("/etc/os-release")
_NUMA_NODES: Final = DirectoryWant("/sys/devices/system/node")


def wants(texts: Texts) -> Iterable[Want]:
    """Everything, at once."""
    del texts
    yield from (_CPUINFO, _MEMINFO, _OS_RELEASE, _NUMA_NODES)
    yield from (FileWant(path) for path in _PLAIN_FILES.values())
    yield from (_cache_setting(name) for name in _CACHE_SETTINGS)


def facts(texts: Texts) -> Facts:
    """What the files say; a file that this machine does not have leaves its fact out."""
    system = named_numbers(text_of(texts, _OS_RELEASE))
    values: dict[str, FactValue] = {
        **{name: text_of(texts, FileWant(path)) for name, path in _PLAIN_FILES.items()},
        "os.name": system.get("PRETTY_NAME", ""),
        **_cpu_facts(text_of(texts, _CPUINFO)),
        "cpu.numa_node_count": sum(name[4:].isdecimal() for name in text_of(texts, _NUMA_NODES).split()),
        "memory.total_bytes": _memory_bytes(text_of(texts, _MEMINFO)),
    }
    for name in _CACHE_SETTINGS:
        number = text_of(texts, _cache_setting(name))
        if number.isdecimal():
            values[f"cache.{name}"] = int(number)
    return {name: value for name, value in values.items() if value not in {"", None}}


def _cache_setting(name: str) -> FileWant:
    return FileWant(f"/proc/sys/vm/{name}")


def _cpu_facts(cpuinfo: str) -> dict[str, FactValue]:
    lines = [line.partition(":") for line in cpuinfo.splitlines()]
    named: dict[str, str] = {}
    for key, _, value in lines:
        named.setdefault(key.strip(), value.strip())
    # ARM kernels give numbers for the model name; lscpu turns them into names from a table of its own.
    model = named.get("model name") or named.get("cpu") or f"implementer {named.get('CPU implementer', 'unknown')}"
    return {"cpu.model": model, "cpu.count": sum(key.strip() == "processor" for key, _, _ in lines)}


def _memory_bytes(meminfo: str) -> int | None:
    fields = dict(line.split()[:2] for line in meminfo.splitlines() if len(line.split()) > 1)
    kibibytes = fields.get("MemTotal:", "")
    if not kibibytes.isdecimal():
        return None
    return int(kibibytes) * 1024 // MEMORY_STEP_BYTES * MEMORY_STEP_BYTES

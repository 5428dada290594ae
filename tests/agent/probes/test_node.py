from factories.recorded import Recorded

from iotide_agent.probes import node
from iotide_agent.probes.base import gather

CPUINFO = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2 GHz\n"
TEXTS = {
    "/proc/cpuinfo": CPUINFO,
    "/proc/meminfo": "MemTotal:       24684096 kB\nMemFree:          100000 kB\n",
    "/proc/sys/kernel/osrelease": "6.18.44\n",
    "/proc/sys/kernel/hostname": "petaltail\n",
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
    "/sys/devices/system/node": "has_cpu\nnode0\nnode1\nonline",
    "/proc/sys/vm/dirty_ratio": "20\n",
    "/proc/sys/vm/dirty_expire_centisecs": "3050\n",
    "/sys/devices/system/cpu/smt/active": "0\n",
}


def facts(**changed: str) -> dict[str, object]:
    return dict(node.facts(gather(Recorded(TEXTS | changed), node.wants)))


def test_node_reports_its_hardware_and_system() -> None:
    found = facts()
    assert found == {
        "host.name": "petaltail",
        "kernel.release": "6.18.44",
        "os.name": "Debian GNU/Linux 12 (bookworm)",
        "cpu.model": "Some CPU @ 2 GHz",
        "cpu.count": 2,
        "cpu.numa_node_count": 2,
        "memory.total_bytes": 24096 * 1024**2,
        "cpu.simultaneous_threads": False,
        "cache.dirty_percent": 20,
        "cache.dirty_expire_seconds": 30.5,
    }


def test_memory_is_the_same_after_a_boot_that_kept_a_little_more() -> None:
    other = facts(**{"/proc/meminfo": "MemTotal:       24681000 kB\n"})
    assert other["memory.total_bytes"] == facts()["memory.total_bytes"]


def test_arm_processor_has_a_name_too() -> None:
    arm = facts(**{"/proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\n"})
    assert arm["cpu.model"] == "implementer 0x41"

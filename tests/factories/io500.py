"""Result files of the IO500 in the forms of its releases, around values and checksums of published runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

_BEGAN: Final = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)
_SECONDS: Final = 301.2345
_WRITES: Final = ("ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write")


@dataclass(frozen=True)
class PublishedRun:
    """Values of a run on the IO500's lists, as printed.

    Attributes:
        phases: in the order of the run; None for the phase that measures nothing.
        has_run_section: releases of 2020 have none.
    """

    version: str
    phases: Mapping[str, str | None]
    means: Mapping[str, str]
    score: str
    checksum: str
    has_run_section: bool = True
    procs: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    def with_phase(self, name: str, value: str) -> "PublishedRun":
        return replace(self, phases={**self.phases, name: value})

    def text(self) -> str:
        """Return result.txt."""
        head = ["[run]"] if self.has_run_section else []
        head += [_pair("procs", str(self.procs))] if self.procs else []
        head += [_pair("version", self.version), _pair("config-hash", "ABCDEF1"), _pair("result-dir", "./results")]
        head += [_pair("mode", "standard")] if self.has_run_section else []
        lines = [*head, f"; START {_moment(0)}"]
        lines += [f"; ERROR INVALID {self.reasons['']}"] if "" in self.reasons else []
        lines += ["", ""]
        for number, (name, value) in enumerate(self.phases.items()):
            lines += [f"[{name}]", _pair("t_start", _moment(number)), _pair("exe", f"./tool --option={name} ; -x")]
            if name in _WRITES:
                key = "throughput-stonewall" if name.startswith("ior") else "rate-stonewall"
                lines.append(_pair(key, "12.34" if name.startswith("ior") else "12.345678"))
            if name in self.reasons:
                lines.append(f"; ERROR INVALID {self.reasons[name]}")
            lines += [_pair("found", "44"), _pair("total-files", "4400")] if name == "find" else []
            lines += [_pair("score", value)] if value is not None else []
            lines += [_pair("t_delta", f"{_SECONDS:.4f}"), _pair("t_end", _moment(number + 1)), ""]
        lines += ["[SCORE]", *(_pair(name, value) for name, value in self.means.items())]
        mark = " [INVALID]" if self.reasons else ""
        lines += [_pair("SCORE", f"{self.score}{mark}"), _pair("hash", self.checksum), f"; END {_moment(20)}", ""]
        return "\n".join(lines)

    def summary(self) -> str:
        """Return result_summary.txt."""
        lines = [f"IO500 version {self.version} (standard)"]
        for name, value in self.phases.items():
            unit = "GiB/s" if name.startswith("i") else "kIOPS"
            mark = " [INVALID]" if name in self.reasons else ""
            kind = "      " if value is None else "RESULT"
            shown = f"[{kind}] {name:>20} {value or '0.000000':>15} {unit} : time {_SECONDS:.3f} seconds{mark}"
            lines.append(shown)
        mean = self.means
        lines.append(f"[SCORE ] Bandwidth {mean['BW']} GiB/s : IOPS {mean['MD']} kiops : TOTAL {self.score}")
        return "\n".join([*lines, ""])


def _pair(key: str, value: str) -> str:
    return f"{key:15} = {value}"


def _moment(number: int) -> str:
    return (_BEGAN + timedelta(seconds=number * _SECONDS)).strftime("%Y-%m-%d %H:%M:%S")


_ORDER: Final = (
    *("ior-easy-write", "mdtest-easy-write", "timestamp", "ior-hard-write", "mdtest-hard-write", "find"),
    *("ior-easy-read", "mdtest-easy-stat", "ior-hard-read", "mdtest-hard-stat"),
    *("mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete"),
)


def _phases(*values: str | None) -> dict[str, str | None]:
    return dict(zip(_ORDER, values, strict=True))


RUN_2020: Final = PublishedRun(
    version="io500-isc20_v4",
    phases=_phases(
        *("136.310860", "226.972531", None, "10.499138", "157.853084", "501.265724"),
        *("130.884220", "460.215007", "13.492041", "334.916194", "181.269607", "205.722017", "104.033406"),
    ),
    means={"MD": "239.260627", "BW": "39.871471"},
    score="97.671251",
    checksum="12BEAD0C",
    has_run_section=False,
)
RUN_2021: Final = PublishedRun(
    version="",
    phases=_phases(
        *("254.472680", "144.722921", None, "5.125428", "41.864914", "5213.090670"),
        *("221.612186", "1258.251390", "18.658181", "382.984220", "97.618424", "168.992899", "18.442281"),
    ),
    means={"MD": "215.380186", "BW": "48.190182"},
    score="101.878409",
    checksum="CF2760A3",
)
"""Its checksum is without the two means."""
RUN_2025: Final = PublishedRun(
    version="io500-isc25_v1",
    phases=_phases(
        *("64.129392", "365.532421", None, "8.085403", "171.712092", "528.053786"),
        *("81.167651", "742.968026", "56.444105", "676.479691", "277.650984", "337.193376", "114.196860"),
    )
    | {"ior-rnd4K-easy-read": "250.801936"},
    means={"MD": "339.885612", "BW": "39.259077"},
    score="115.514482",
    checksum="1F5BE79",
    procs=1280,
)
PUBLISHED: Final = {"2020": RUN_2020, "2021": RUN_2021, "2025": RUN_2025}

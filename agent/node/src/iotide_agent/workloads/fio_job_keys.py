"""Keys of fio job files: accepted ones with their checks, those that are left out, and remedies for refused ones."""

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from iotide_wire.units import GIB, KIB, MIB, TIB

Operation = Literal["read", "write"]
Check = Callable[[str], str | None]
"""Returns the value for fio, None for a switch that is off; raises ValueError with the remedy."""

OPERATIONS: Final[Mapping[str, tuple[Operation, ...]]] = {
    "read": ("read",),
    "write": ("write",),
    "randread": ("read",),
    "randwrite": ("write",),
    "rw": ("read", "write"),
    "readwrite": ("read", "write"),
    "randrw": ("read", "write"),
}
POWERS: Final = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_ENGINES: Final = ("psync", "sync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap")
_VERIFIED: Final = ("md5", "crc16", "crc32", "crc32c", "crc32c-intel", "crc64", "crc7", "xxhash", "sha1", "sha256")
_SIZE: Final = re.compile(r"([0-9]{1,18})([kmgt]?)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_TIME: Final = re.compile(r"([0-9]{1,12})(us|ms|s|m|h|d)?")
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_BLOCK: Final = r"[1-9]\d{0,9}[kKmM]?"
_SPLIT: Final = rf"{_BLOCK}/\d{{0,3}}(:{_BLOCK}/\d{{0,3}})*"
_MOST_DIRECTIONS: Final = 3
"""fio takes one value for each of reads, writes and trims."""


def checked(key: str, value: str) -> dict[str, str | None]:
    """Return an accepted key as fio gets it, nothing for one that is left out; raise ValueError with the remedy."""
    name = _ALIASES.get(key, key)
    if name in _LEFT_OUT:
        return {}
    check = _ALLOWED.get(name)
    if check is None:
        raise ValueError(_REMEDIES.get(name, REMOVE))
    found = check(value)
    if name == "buffered":
        return {"direct": str(1 - int(found or 0))}
    return {name: found}


def is_left_out(key: str) -> bool:
    """Return true for a key that iotide sets itself, or that changes only what fio records."""
    return _ALIASES.get(key, key) in _LEFT_OUT


def seconds_of(text: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time")
    return int(match[1]) * _SECONDS[match[2] or "s"]


def sizes_of(text: str) -> list[int]:
    """Return the bytes of all sizes in a text such as `4k-1m` or `4k/60:64k/40`; shares are no sizes."""
    return [int(number) * POWERS[power.lower()] for number, power in re.findall(r"(?<![/\d])(\d+)([kKmM]?)", text)]


def _one_of(*choices: str) -> Check:
    def check(value: str) -> str:
        if value not in choices:
            raise ValueError(f"use one of {', '.join(choices)}")
        return value

    return check


def _whole(least: int, most: int) -> Check:
    def check(value: str) -> str:
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise ValueError(f"use a whole number from {least} to {most}")
        return str(int(value))

    return check


def _size(value: str) -> str:
    """Return bytes. fio's default, k and KB as 1024 and KiB as 1000, would surprise authors of job files."""
    match = _SIZE.fullmatch(value)
    if match is None or int(match[1]) == 0:
        raise ValueError("use a number of bytes, or one with k, m, g or t for powers of 1024, for instance 64k")
    return str(int(match[1]) * POWERS[match[2].lower()])


def _offset(value: str) -> str:
    return "0" if value == "0" else _size(value)


def _sizes(value: str) -> str:
    return ",".join(map(_size, value.split(",", maxsplit=_MOST_DIRECTIONS - 1)))


def _time(value: str) -> str:
    if not _TIME.fullmatch(value):
        raise ValueError("use a whole number with us, ms, s, m, h or d, for instance 30s")
    return value


def _switch(value: str) -> str | None:
    return _one_of("0", "1")(value or "1")


def _bare(value: str) -> str | None:
    # Some releases of fio take such a key as set whatever its value, so that one that is off is not passed.
    if value not in {"", "0", "1"}:
        raise ValueError("write it without a value, or remove it")
    return None if value == "0" else ""


def _form(pattern: str, example: str) -> Check:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"write it like {example}")
        return value

    return check


def _pattern(value: str) -> str:
    operation, colon, step = value.partition(":")
    _one_of(*OPERATIONS)(operation)
    if colon and not re.fullmatch(r"-?[0-9]{1,12}[kmgKMG]?", step):
        raise ValueError(f"write it like {operation}:8k, with a number of bytes or operations")
    return value


_ALIASES: Final = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "ba": "blockalign",
    "io_limit": "io_size",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "start_delay": "startdelay",
    "ratemin": "rate_min",
    "wait_for_previous": "stonewall",
    "threads": "thread",
}
_PERCENT: Final = _whole(0, 100)
_COUNT: Final = _whole(1, 2**31 - 1)
_ALLOWED: Final[Mapping[str, Check]] = {
    **dict.fromkeys(("direct", "buffered", "invalidate", "overwrite"), _switch),
    **dict.fromkeys(("end_fsync", "fsync_on_close", "randrepeat", "scramble_buffers"), _switch),
    **dict.fromkeys(("create_on_open", "create_serialize", "dedupe_global", "do_verify", "verify_fatal"), _switch),
    **dict.fromkeys(("time_based", "norandommap", "refill_buffers", "zero_buffers"), _bare),
    **dict.fromkeys(("stonewall", "new_group"), _bare),
    **dict.fromkeys(("rwmixread", "rwmixwrite", "percentage_random"), _PERCENT),
    **dict.fromkeys(("buffer_compress_percentage", "dedupe_percentage", "dedupe_working_set_percentage"), _PERCENT),
    **dict.fromkeys(("runtime", "ramp_time", "startdelay", "thinktime", "thinktime_spin"), _time),
    **dict.fromkeys(("size", "io_size", "filesize", "verify_interval"), _size),
    **dict.fromkeys(("offset", "offset_increment"), _offset),
    **dict.fromkeys(("bs", "blockalign", "rate", "rate_min"), _sizes),
    **dict.fromkeys(("fsync", "fdatasync"), _whole(0, 2**31 - 1)),
    **dict.fromkeys(("thinktime_blocks", "rate_iops", "number_ios", "verify_backlog", "loops"), _COUNT),
    **dict.fromkeys(("flow", "flow_sleep"), _COUNT),
    **dict.fromkeys(("nrfiles", "openfiles"), _whole(1, 10_000)),
    **dict.fromkeys(("iodepth", "iodepth_batch", "iodepth_batch_complete", "iodepth_low"), _whole(1, 4096)),
    "numjobs": _whole(1, 64),
    "verify_async": _whole(1, 64),
    "randseed": _whole(0, 2**63 - 1),
    "rw": _pattern,
    "ioengine": _one_of(*_ENGINES),
    "sync": _one_of("0", "1", "none", "sync", "dsync"),
    "io_submit_mode": _one_of("inline", "offload"),
    "rate_process": _one_of("linear", "poisson"),
    "random_generator": _one_of("tausworthe", "tausworthe64", "lfsr"),
    "file_service_type": _one_of("random", "roundrobin", "sequential"),
    "dedupe_mode": _one_of("repeat", "working_set"),
    "verify": _one_of(*_VERIFIED, "meta"),
    **dict.fromkeys(("buffer_pattern", "verify_pattern"), _form(r"0x[0-9A-Fa-f]{1,512}", "0xdeadbeef")),
    "bssplit": _form(rf"{_SPLIT}(,{_SPLIT})?", "4k/60:64k/40"),
    "bsrange": _form(rf"{_BLOCK}-{_BLOCK}(,{_BLOCK}-{_BLOCK})?", "4k-64k"),
    "wait_for": _form(r"[^\[\]]{1,61}", "the name of a section above"),
    "filename": _form(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", "data.1, a plain name in the run's own directory"),
    "random_distribution": _form(
        r"random|(zipf|pareto|normal):\d+(\.\d+)?|zoned:\d+/\d*(:\d+/\d*)*", "zipf:1.2 or zoned:50/5:50/95"
    ),
}
ALLOWED: Final = ", ".join(sorted(_ALLOWED))
_LEFT_OUT: Final = frozenset(
    {
        # The section names a job, jobs are threads in the run's own directory, and each is reported.
        *("name", "description", "thread", "directory", "group_reporting", "unified_rw_reporting"),
        # Nothing is allocated before it is written, and all files are removed at the end.
        *("fallocate", "unlink"),
        # iotide has fio record the rate of each second and all completion latencies.
        *("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "per_job_logs", "log_unix_epoch"),
        *("log_avg_msec", "log_hist_msec", "log_max_value", "log_offset", "log_prio", "bwavgtime", "iopsavgtime"),
        *("clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list"),
        *("disable_lat", "disable_clat", "disable_slat", "disable_bw_measurement", "gtod_reduce"),
        # A failed verification ends the run; fio would write its blocks and its state next to the results.
        *("verify_dump", "verify_state_save"),
        # Without cpus_allowed, which is refused, it has no effect.
        "cpus_allowed_policy",
    }
)
REMOVE: Final = "remove it"
_ENDS_EARLY: Final = "remove it: each job runs to its planned end, and iotide judges itself if its rate was steady"
_HIDES_ERRORS: Final = "remove it: a job that ignores errors is no measurement"
_REMEDIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("filename_format", "opendir"), "remove it: all files are created in the run's own directory on the target"
    ),
    **dict.fromkeys(("exec_prerun", "exec_postrun"), "remove it: no program other than fio is started"),
    **dict.fromkeys(("exitall", "exit_what", "steadystate", "steadystate_duration"), _ENDS_EARLY),
    **dict.fromkeys(("steadystate_ramp_time", "steadystate_check_interval", "ss", "ss_dur", "ss_ramp"), _ENDS_EARLY),
    **dict.fromkeys(("continue_on_error", "ignore_error", "error_dump"), _HIDES_ERRORS),
    "fill_device": "remove it, and give the size of its file",
}

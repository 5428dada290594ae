/** Titles and explanations of the per-second counters; see docs/counters.md. */

import { t } from "@lingui/core/macro";
import { counterTitle } from "./curve";

export interface CounterPanel {
  readonly title: string;
  /** A short explanation. */
  readonly says: string;
  /** Line names by counter, in drawing order. */
  readonly lines: Readonly<Record<string, string>>;
}

export interface CounterGroup {
  readonly key: string;
  readonly title: string;
  readonly panels: readonly CounterPanel[];
}

export const COUNTER_GROUPS: readonly CounterGroup[] = [
  {
    key: "load",
    title: t`Throughput`,
    panels: [
      {
        title: t`Benchmark throughput`,
        says: t`Bytes written and read by the benchmark's own processes (/proc/PID/io).`,
        lines: { write_bytes_per_second: "write", read_bytes_per_second: "read" },
      },
    ],
  },
  {
    key: "stream",
    title: t`Stream`,
    panels: [
      {
        title: t`Stream`,
        says: t`Bytes sent and received, without UDP headers.`,
        lines: { stream_sent_bytes_per_second: "sent", stream_received_bytes_per_second: "received" },
      },
      {
        title: t`Lost datagrams`,
        says: t`Skipped sequence numbers (negative when some arrive later), and those dropped by this node's kernel at a full socket buffer. The rest was lost in the network.`,
        lines: {
          stream_missing_datagrams_per_second: "missing",
          stream_dropped_datagrams_per_second: t`dropped here`,
        },
      },
      {
        title: t`Datagrams out of order`,
        says: t`Datagrams that arrived twice, after a later one, or too late to be recorded.`,
        lines: {
          stream_duplicated_datagrams_per_second: "again",
          stream_reordered_datagrams_per_second: t`after a later one`,
          stream_late_datagrams_per_second: t`too late`,
        },
      },
      {
        title: t`Ring buffer`,
        says: t`Largest amount of data waiting for the writers. Data that arrives while the buffer is full is lost at the socket.`,
        lines: { stream_ring_bytes: t`in use` },
      },
      {
        title: t`Sender's lag`,
        says: t`How far the sender is behind its schedule. It sends overdue data in one burst.`,
        lines: { stream_sender_lag_seconds: "behind" },
      },
    ],
  },
  {
    key: "cpu",
    title: t`CPU`,
    panels: [
      {
        title: t`CPU`,
        says: t`Shares of all CPUs. Waiting is idle time while a task waits for storage.`,
        lines: {
          cpu_user_ratio: "user",
          cpu_system_ratio: "system",
          cpu_iowait_ratio: "waiting",
          load_cpu_ratio: t`benchmark`,
        },
      },
      {
        title: t`Load average`,
        says: t`Tasks running or waiting for storage, averaged over about a minute.`,
        lines: { load1: t`load average` },
      },
      {
        title: t`iotide's sampler`,
        says: t`CPU used by iotide's own sampling, as a share of one core.`,
        lines: { sampler_cpu_ratio: "sampler" },
      },
    ],
  },
  {
    key: "pressure",
    title: t`Pressure`,
    panels: [
      {
        title: t`I/O pressure`,
        says: t`Share of time in which some tasks, or all non-idle tasks (full), waited for storage. Source: kernel PSI.`,
        lines: { psi_io_some_ratio: "some", psi_io_full_ratio: "full" },
      },
      {
        title: t`CPU and memory pressure`,
        says: t`Share of time in which tasks waited for a CPU or for memory.`,
        lines: {
          psi_cpu_some_ratio: "CPU",
          psi_memory_some_ratio: "memory",
          psi_memory_full_ratio: t`memory, full`,
        },
      },
    ],
  },
  {
    key: "memory",
    title: t`Memory`,
    panels: [
      {
        title: t`Unwritten data`,
        says: t`Pages waiting in memory (dirty) or being written (writeback). A fast buffered write leaves this data to be written later.`,
        lines: { memory_dirty_bytes: "dirty", memory_writeback_bytes: "writeback" },
      },
      {
        title: t`Memory`,
        says: t`Memory available to programs, and memory used as file cache.`,
        lines: { memory_available_bytes: "available", memory_cached_bytes: "cached" },
      },
    ],
  },
  {
    key: "disk",
    title: t`Disk`,
    panels: [
      {
        title: t`Disk`,
        says: t`Block device below the target, all programs. Anything beyond the benchmark's own data is other load. On a monitored node: all disks.`,
        lines: { disk_write_bytes_per_second: "write", disk_read_bytes_per_second: "read" },
      },
      {
        title: t`Disk busy`,
        says: t`Share of time in which the busiest device had work. An array or an SSD may have capacity left at 100 %.`,
        lines: { disk_busy_ratio: "busy" },
      },
    ],
  },
  {
    key: "network",
    title: t`Network`,
    panels: [
      {
        title: t`Network`,
        says: t`All physical interfaces. RDMA traffic is not included.`,
        lines: { net_send_bytes_per_second: "send", net_receive_bytes_per_second: "receive" },
      },
      {
        title: t`Busiest link`,
        says: t`The busier direction of the busiest link, as a share of its nominal speed.`,
        lines: { net_link_ratio: t`busiest link` },
      },
    ],
  },
  {
    key: "nfs",
    title: t`NFS`,
    panels: [
      {
        title: t`NFS over the wire`,
        says: t`Bytes that the client wrote to and read from the server for the target's mount.`,
        lines: { nfs_write_bytes_per_second: "write", nfs_read_bytes_per_second: "read" },
      },
      {
        title: t`NFS requests`,
        says: t`Requests to the server, and retransmissions.`,
        lines: { nfs_operations_per_second: "requests", nfs_retransmissions_per_second: t`retransmitted` },
      },
    ],
  },
  {
    key: "lustre",
    title: t`Lustre`,
    panels: [
      {
        title: t`Lustre`,
        says: t`Bytes that programs wrote to and read from the mount, including data served by the client cache.`,
        lines: { lustre_write_bytes_per_second: "write", lustre_read_bytes_per_second: "read" },
      },
      {
        title: t`Lustre calls`,
        says: t`File system calls of programs on the mount.`,
        lines: { lustre_operations_per_second: "calls" },
      },
    ],
  },
  {
    key: "raid",
    title: t`RAID`,
    panels: [
      {
        title: t`Software RAID`,
        says: t`CPU time of the md and device-mapper kernel threads, as a share of all CPUs.`,
        lines: { raid_cpu_ratio: t`md and dm` },
      },
    ],
  },
];

/** Groups for the counters of a run. Unknown counters, for example of plug-ins, follow the first group. */
export function groupsOf(counters: readonly string[]): CounterGroup[] {
  const isKnown = new Set(
    COUNTER_GROUPS.flatMap(({ panels }) => panels.flatMap(({ lines }) => Object.keys(lines))),
  );
  const known = COUNTER_GROUPS.map((group) => ({
    ...group,
    panels: group.panels.filter(({ lines }) => counters.some((counter) => counter in lines)),
  }));
  const others = counters
    .filter((counter) => !isKnown.has(counter))
    .map((counter) => {
      const name = counterTitle(counter);
      return {
        title: name.charAt(0).toUpperCase() + name.slice(1),
        says: t`${counter}, as reported by the tool.`,
        lines: { [counter]: name },
      };
    });
  const own = { key: "own", title: t`Tool counters`, panels: others };
  return [...known.slice(0, 1), own, ...known.slice(1)].filter(({ panels }) => panels.length > 0);
}

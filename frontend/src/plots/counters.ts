/** What the per-second counters say, and which of them are read together; the table of docs/counters.md in short. */

import { t } from "@lingui/core/macro";
import { counterTitle } from "./curve";

export interface CounterPanel {
  readonly title: string;
  /** A sentence for those who do not know the counter. */
  readonly says: string;
  /** In the order of their lines, by the name that the line gets. */
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
        title: t`Throughput of the load`,
        says: t`What the load's own processes wrote and read, by /proc/PID/io.`,
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
        says: t`What the sender sent and the receiver took, without the headers of UDP.`,
        lines: { stream_sent_bytes_per_second: "sent", stream_received_bytes_per_second: "received" },
      },
      {
        title: t`Datagrams that did not come`,
        says: t`Numbers that were passed over, below zero where some came after all, and what this node's kernel dropped of them at a full socket buffer. The rest was lost on the way.`,
        lines: {
          stream_missing_datagrams_per_second: "missing",
          stream_dropped_datagrams_per_second: t`dropped here`,
        },
      },
      {
        title: t`Datagrams out of order`,
        says: t`Those that came again, after a later one, or too late to be recorded.`,
        lines: {
          stream_duplicated_datagrams_per_second: "again",
          stream_reordered_datagrams_per_second: t`after a later one`,
          stream_late_datagrams_per_second: t`too late`,
        },
      },
      {
        title: t`Ring of memory`,
        says: t`Most that waited for the writers; what comes while it is full is lost at the socket.`,
        lines: { stream_ring_bytes: t`in use` },
      },
      {
        title: t`Sender's lag`,
        says: t`How far the sender fell behind its schedule; it sends what was due then in one burst.`,
        lines: { stream_sender_lag_seconds: "behind" },
      },
    ],
  },
  {
    key: "cpu",
    title: t`Processors`,
    panels: [
      {
        title: t`Processors`,
        says: t`Shares of all processors. Waiting is idle time in which a task waited for storage.`,
        lines: {
          cpu_user_ratio: "user",
          cpu_system_ratio: "system",
          cpu_iowait_ratio: "waiting",
          load_cpu_ratio: t`the load`,
        },
      },
      {
        title: t`Load average`,
        says: t`Tasks that ran or waited for storage, over about a minute.`,
        lines: { load1: t`load average` },
      },
      {
        title: t`iotide's sampler`,
        says: t`What this very looking cost, as a share of one core.`,
        lines: { sampler_cpu_ratio: "sampler" },
      },
    ],
  },
  {
    key: "pressure",
    title: t`Pressure`,
    panels: [
      {
        title: t`Pressure of I/O`,
        says: t`Share of time in which some task, or all that were not idle (full), waited for storage: PSI of the kernel.`,
        lines: { psi_io_some_ratio: "some", psi_io_full_ratio: "full" },
      },
      {
        title: t`Pressure of CPU and memory`,
        says: t`Share of time in which tasks waited for a processor, or for memory to be freed.`,
        lines: {
          psi_cpu_some_ratio: "processors",
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
        title: t`Not yet written`,
        says: t`Pages that wait in memory (dirty) or are just being written (writeback): what a fast buffered write has still before it.`,
        lines: { memory_dirty_bytes: "dirty", memory_writeback_bytes: "writeback" },
      },
      {
        title: t`Memory`,
        says: t`What programs could still get, and what of it caches files now.`,
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
        says: t`The block device below the target, all programs together. More than the load moved is foreign. Of a watched node, all its disks.`,
        lines: { disk_write_bytes_per_second: "write", disk_read_bytes_per_second: "read" },
      },
      {
        title: t`Disk busy`,
        says: t`Share of time in which the busiest device had any work; an array or an SSD may do more at 100 %.`,
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
        says: t`All interfaces with hardware; RDMA goes past them.`,
        lines: { net_send_bytes_per_second: "send", net_receive_bytes_per_second: "receive" },
      },
      {
        title: t`Fullest link`,
        says: t`The busier direction of the fullest link, of its nominal speed.`,
        lines: { net_link_ratio: t`fullest link` },
      },
    ],
  },
  {
    key: "nfs",
    title: t`NFS`,
    panels: [
      {
        title: t`NFS over the wire`,
        says: t`What the client wrote to and read from the server for the target's mount.`,
        lines: { nfs_write_bytes_per_second: "write", nfs_read_bytes_per_second: "read" },
      },
      {
        title: t`NFS requests`,
        says: t`Requests to the server, and those that had to be sent again.`,
        lines: { nfs_operations_per_second: "requests", nfs_retransmissions_per_second: t`sent again` },
      },
    ],
  },
  {
    key: "lustre",
    title: t`Lustre`,
    panels: [
      {
        title: t`Lustre`,
        says: t`What programs wrote to and read from the mount; what the client's cache answers is in it.`,
        lines: { lustre_write_bytes_per_second: "write", lustre_read_bytes_per_second: "read" },
      },
      {
        title: t`Lustre calls`,
        says: t`Calls of programs on the mount.`,
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
        says: t`Processor time of the kernel threads of md and device mapper, as a share of all processors.`,
        lines: { raid_cpu_ratio: t`md and dm` },
      },
    ],
  },
];

/** Those groups of which a run has counters; what none knows, as of a plug-in, stands by its name behind the first. */
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
        says: t`${counter}, as the tool itself told it.`,
        lines: { [counter]: name },
      };
    });
  const own = { key: "own", title: t`Of the tool`, panels: others };
  return [...known.slice(0, 1), own, ...known.slice(1)].filter(({ panels }) => panels.length > 0);
}

import { t } from "@lingui/core/macro";
import { FLAG_RANKS } from "@/api/flagRanks";
import type { Flag, Sample } from "@/api/types";

export interface FlagWords {
  readonly title: string;
  /** Shown next to a number whose runs have the flag. */
  readonly short: string;
  readonly meaning: string;
  readonly remedy: string;
}

export const FLAG_WORDS: Readonly<Record<Flag["code"], FlagWords>> = {
  CACHE_SIZE: {
    title: t`May be cached`,
    short: t`may be cached`,
    meaning: t`The node's memory can hold the data. Reads may come from memory, and writes may stay there.`,
    remedy: t`Move at least twice the node's memory, or bypass the cache with O_DIRECT. A tmpfs is always memory.`,
  },
  CACHE_DROP: {
    title: t`Warm read`,
    short: t`read warm`,
    meaning: t`The file system's cache was not dropped before this read, so part of the data may have been in memory.`,
    remedy: t`Allow the agent to drop caches (agent.toml: cache_drop). Remount a file system that has its own cache.`,
  },
  FSYNC: {
    title: t`Not flushed`,
    short: t`not flushed`,
    meaning: t`Timing ended before the data was on stable storage, so the value measures memory.`,
    remedy: t`Choose a flush (fsync, direct or dsync) in the workload's options.`,
  },
  DURATION: {
    title: t`Too short`,
    short: t`too short`,
    meaning: t`A short phase does not show the steady state. A very short one is only a few clock ticks.`,
    remedy: t`Increase the size, the count or the run time. Published rankings ask for 300 s.`,
  },
  STEADY: {
    title: t`Not steady`,
    short: t`not steady`,
    meaning: t`The rate rose, fell or jumped during the phase, so its mean describes no part of it.`,
    remedy: t`Check the curve. Measure longer, or start from a filled and warmed-up state.`,
  },
  CV: {
    title: t`High variance`,
    short: t`high variance`,
    meaning: t`The runs of this configuration vary by more than 5 % of their mean.`,
    remedy: t`Look for two modes and for other load. Add repeats.`,
  },
  OUTLIER: {
    title: t`Outlier`,
    short: t`outlier`,
    meaning: t`The value is further from the median of its configuration than in 99 of 100 ordinary configurations. It still counts.`,
    remedy: t`Compare this run's curves, facts and flags with those of the other repeats.`,
  },
  STRAGGLER: {
    title: t`Slow writer`,
    short: t`one writer was slow`,
    meaning: t`The slowest writer took more than 1.5 times as long as the median of the others, so it determines the total.`,
    remedy: t`Compare first done and last done. Check the target or path of the slow writer.`,
  },
  CLIENT_BOUND: {
    title: t`Limited by the node`,
    short: t`limited by the node`,
    meaning: t`The node's CPU, a single busy thread, its data source or its link was the limit.`,
    remedy: t`Use more threads, larger blocks or more nodes. The storage may be faster than this.`,
  },
  TOOL_CLOCK: {
    title: t`Tool's clock off`,
    short: t`tool's clock off`,
    meaning: t`The tool reported more time than its process lived, so its rates are too low.`,
    remedy: t`Check whether the clock was set during the run, then run again.`,
  },
  TIME_SET: {
    title: t`Time of day set`,
    short: t`time of day set`,
    meaning: t`The time of day was set during the run. Tools that measure with it report wrong times.`,
    remedy: t`Wait for NTP to settle, and slew the clock instead of stepping it. Then run again.`,
  },
  NODE_TIME: {
    title: t`Node's time off`,
    short: t`node's time off`,
    meaning: t`The node's time is more than a day from the server's. The server moved start, end and curves of the run.`,
    remedy: t`Set the node's clock with NTP.`,
  },
  LATE_START: {
    title: t`Late start`,
    short: t`late start`,
    meaning: t`Nodes or writers did not start together, so a total includes time without some of them.`,
    remedy: t`Let each writer write longer, then run again.`,
  },
  GANG: {
    title: t`Nodes or launcher silent`,
    short: t`nodes or launcher silent`,
    meaning: t`The nodes of one program lost contact for seconds, or its launcher did not end after the results.`,
    remedy: t`Check the network between the nodes, or the release of the MPI launcher. Then run again.`,
  },
  CLOCK: {
    title: t`Clock or start skew`,
    short: t`clock or start off`,
    meaning: t`The clock was set during the run or differs from the server's, or writers did not start together. Times and totals may be wrong.`,
    remedy: t`Wait for NTP to settle, and slew the clock instead of stepping it. Let each writer write longer, then run again.`,
  },
  ERRORS: {
    title: t`Errors`,
    short: t`errors`,
    meaning: t`An operation was refused or incomplete, data read differed from data written, or the kernel counted an error.`,
    remedy: t`Read the reason and the raw output. If they name the storage or the kernel, check the kernel log.`,
  },
  ENV_CHANGED: {
    title: t`Environment changed`,
    short: t`environment changed`,
    meaning: t`A fact of the node, mount or tool differs from the previous run of this series.`,
    remedy: t`If the change was intended, it explains a step in the trend. If not, revert it and run again.`,
  },
  DEGRADED: {
    title: t`Storage degraded`,
    short: t`storage busy with itself`,
    meaning: t`An array was missing a disk, or a rebuild, check, scrub or balance was running below the target.`,
    remedy: t`Run again when it has finished. Do not compare this run with others.`,
  },
  FOREIGN_LOAD: {
    title: t`Other load on the node`,
    short: t`other load`,
    meaning: t`The node was not idle just before the run, or CPU time or bytes on the target's device were not caused by the run.`,
    remedy: t`Find the other load and run again without it, or let runs wait for an idle node (quiet: wait).`,
  },
  CUT: {
    title: t`Ended early`,
    short: t`ended before its work was done`,
    meaning: t`The time limit, a cancellation or a signal ended the run early. Its numbers cover part of the work, and the storage is not the cause.`,
    remedy: t`Raise the time limit or reduce the size, then run again.`,
  },
  BOUND: {
    title: t`Only a bound`,
    short: t`only a bound`,
    meaning: t`The tool's scale ends before this value, so the number shown is a bound.`,
    remedy: t`The flag states the bound. Do not compare it with an exact value.`,
  },
  LOAD_NOT_MEASURED: {
    title: t`Other load not measured`,
    short: t`load not measured`,
    meaning: t`The agent could not sample enough before or during the run to detect other load on the node.`,
    remedy: t`Use a larger size or a longer run time, or let runs wait for an idle node (quiet: wait).`,
  },
  WRONG_MOUNT: {
    title: t`Wrong mount`,
    short: t`wrong mount`,
    meaning: t`Before or after the run, the directory was on a file system other than the target's.`,
    remedy: t`Mount the target as configured, then run again.`,
  },
  FORK_BOUND: {
    title: t`Limited by process starts`,
    short: t`limited by starting processes`,
    meaning: t`Most of the time went into starting processes, not into the file system.`,
    remedy: t`Create the files natively.`,
  },
  NO_DIRECT: {
    title: t`No O_DIRECT`,
    short: t`no O_DIRECT`,
    meaning: t`O_DIRECT was requested, but the file system refused it or the tool did not use it, so the page cache was used.`,
    remedy: t`Treat the value as buffered, or use a file system and a tool that support O_DIRECT.`,
  },
  ZEROES: {
    title: t`Reducible data`,
    short: t`reducible data`,
    meaning: t`Storage that compresses or deduplicates handles such data almost for free, and unwritten blocks are not read at all. So the rate is too high.`,
    remedy: t`Write random data that does not repeat, also before a run that only reads.`,
  },
  TOO_FAST: {
    title: t`Too fast to measure`,
    short: t`too fast to measure`,
    meaning: t`The tool reports that the time was too short for a value.`,
    remedy: t`Increase the size or the count.`,
  },
  PEER_ODD: {
    title: t`Differs from its peers`,
    short: t`differs from its peers`,
    meaning: t`This node, target or OST is 5 % or more from the median of its peers, beyond their spread, and so is this run. It still counts.`,
    remedy: t`See the Peers page. Compare firmware, cabling, disks and free space with those of its peers.`,
  },
  PUBLISHED: {
    title: t`Published, not measured here`,
    short: t`published`,
    meaning: t`Others measured this, and the number is as printed. Most sources do not state the method or the repeats.`,
    remedy: t`Compare it with your own points. A verdict needs runs that you can repeat.`,
  },
};

type Code = Flag["code"];

/** 1: not a measurement of this; 2: measures something else; 3: disturbed; 4: plan too small. */
export type FlagRank = (typeof FLAG_RANKS)[Code];

function wordsOf(code: string): FlagWords | undefined {
  return FLAG_WORDS[code as Code];
}

/** Return the rank of a flag. An unknown flag counts as 2, a caution. */
export function rankOf(code: string): FlagRank {
  return FLAG_RANKS[code as Code] ?? 2;
}

/** Return `Too short`, or the code of a flag that this version does not know. */
export function flagTitle(code: string): string {
  return wordsOf(code)?.title ?? code;
}

export function flagTitles(codes: readonly string[]): string {
  return codes.map(flagTitle).join(", ");
}

function shortOf(code: string): string {
  return wordsOf(code)?.short ?? code;
}

/** Return what makes a number doubtful, such as `may be cached`: flags of rank 1 and 2, and those that reject it. */
export function cautionsOf(codes: readonly string[], rejecting: readonly string[] = []): string[] {
  return codes.filter((code) => rankOf(code) <= 2 || rejecting.includes(code)).map(shortOf);
}

export interface Remarks {
  /** Codes that are named: of rank 1 and 2, and those that reject the number. */
  readonly named: readonly string[];
  /** Words of cautions that are usual in the series. */
  readonly usual: readonly string[];
  /** Words of flags that are only counted. */
  readonly notes: readonly string[];
}

/** Return what is shown of each flag of a number or run. A flag that rejects it is never usual. */
export function remarksOf(
  codes: readonly string[],
  usual: readonly string[],
  rejecting: readonly string[],
): Remarks {
  const isUsual = (code: string) => usual.includes(code) && !rejecting.includes(code);
  const own = codes.filter((code) => !isUsual(code));
  const named = own.filter((code) => rankOf(code) <= 2 || rejecting.includes(code));
  return {
    named,
    usual: cautionsOf(codes.filter(isUsual)),
    notes: notesOf(own.filter((code) => !named.includes(code))),
  };
}

/** Return the usual flags of rank 2 that a number lacks. It then measures something else than the others. */
export function missingFlags(codes: readonly string[], usual: readonly string[]): string[] {
  return usual.filter((code) => rankOf(code) === 2 && !codes.includes(code));
}

/** Check that two numbers measure the same: both or neither have each flag of rank 2. */
export function areComparable(a: readonly string[], b: readonly string[]): boolean {
  const only = (own: readonly string[], other: readonly string[]) =>
    own.some((code) => rankOf(code) === 2 && !other.includes(code));
  return !only(a, b) && !only(b, a);
}

/** Return what may explain a number, such as `other load`: flags of rank 3. */
export function notesOf(codes: readonly string[]): string[] {
  return codes.filter((code) => rankOf(code) === 3).map(shortOf);
}

/** Return the codes that are shown with a number. Those of rank 4 are stated once for a campaign. */
export function shownCodes(codes: readonly string[]): string[] {
  return codes.filter((code) => rankOf(code) < 4);
}

/** Return the flags that are shown with a run. Those of rank 4 are stated once for its campaign. */
export function shownFlags(flags: readonly Flag[]): Flag[] {
  return flags.filter((flag) => rankOfFlag(flag) < 4).sort((a, b) => rankOfFlag(a) - rankOfFlag(b));
}

/** Return the rank of a flag. One that rejects its numbers has rank 1. */
export function rankOfFlag({ code, effect }: Pick<Flag, "code" | "effect">): FlagRank {
  return effect === "rejected" ? 1 : rankOf(code);
}

/** Return the flags that concern a number, by the same rule as the server's `Flag.concerns`. */
export function flagsConcerning(
  flags: readonly Flag[],
  { labels, target_id }: Pick<Sample, "labels" | "target_id">,
): Flag[] {
  return flags.filter(
    (flag) =>
      (flag.target_id ?? target_id) === target_id &&
      Object.entries(flag.labels ?? {}).every(([name, value]) => labels[name] === value),
  );
}

export function codesOf(flags: readonly Flag[]): string[] {
  return [...new Set(flags.map(({ code }) => code))];
}

export function commonTo(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return first.filter((one) => others.every((other) => other.includes(one)));
}

export function meaningOf(code: string): string {
  return wordsOf(code)?.meaning ?? "";
}

export function remedyOf(code: string): string {
  return wordsOf(code)?.remedy ?? "";
}

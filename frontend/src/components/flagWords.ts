/** What each quality flag means, in plain words, and what to do about it. */

import { t } from "@lingui/core/macro";
import type { Flag, Sample } from "@/api/types";

export interface FlagWords {
  readonly title: string;
  /** What stands next to a number whose runs have the flag; null where the number is as good as without it. */
  readonly caution: string | null;
  readonly meaning: string;
  readonly remedy: string;
}

export const FLAG_WORDS: Readonly<Record<Flag["code"], FlagWords>> = {
  CACHE_SIZE: {
    title: t`May be cached`,
    caution: t`may be cached`,
    meaning: t`The node's memory could hold the data, so reads may come from there and writes may stay there.`,
    remedy: t`Move at least twice the memory where it has room, or go past the cache with O_DIRECT. A tmpfs is memory either way.`,
  },
  CACHE_DROP: {
    title: t`Read warm`,
    caution: t`read warm`,
    meaning: t`Nothing emptied the file system's cache before this read, so part of it may have been in memory.`,
    remedy: t`Let the agent drop caches (agent.toml: cache_drop), or remount where the file system has a cache of its own.`,
  },
  FSYNC: {
    title: t`Not flushed`,
    caution: t`not flushed`,
    meaning: t`The time ended before the data was on stable storage; the figure is the memory's.`,
    remedy: t`Choose a flush (fsync, direct or dsync) in the workload's options.`,
  },
  DURATION: {
    title: t`Too short`,
    caution: t`too short`,
    meaning: t`A short phase says little of the steady state, and a very short one is a few ticks of a clock.`,
    remedy: t`Raise the size, the count or the run time; lists of records ask for 300 s.`,
  },
  STEADY: {
    title: t`Not steady`,
    caution: t`not steady`,
    meaning: t`The rate rose, fell or jumped within the phase, so its mean stands for no part of it.`,
    remedy: t`Look at the curve; measure longer, or from a state that is filled and warmed up.`,
  },
  REPEATS: {
    title: t`Few repeats`,
    caution: null,
    meaning: t`Below four runs no interval can be given.`,
    remedy: t`Ask for at least four repeats.`,
  },
  CV: {
    title: t`Scatters`,
    caution: null,
    meaning: t`The runs of this cell differ by more than 5 % of their mean.`,
    remedy: t`Look for two modes and for other load; ask for more repeats.`,
  },
  OUTLIER: {
    title: t`Far from the others`,
    caution: null,
    meaning: t`The number lies more than five median deviations from the median of its cell. It still counts.`,
    remedy: t`Compare this run's curves, facts and flags with those of its neighbours.`,
  },
  STRAGGLER: {
    title: t`One was slow`,
    caution: t`one writer was slow`,
    meaning: t`The slowest writer took more than 1.5 times as long as the median of the others, so the total is its figure.`,
    remedy: t`Compare first done and last done; look at the target or path of the slow one.`,
  },
  CLIENT_BOUND: {
    title: t`Not a storage limit`,
    caution: t`limited by the node`,
    meaning: t`The node's processors, one full thread, its data source or its link were the limit.`,
    remedy: t`Use more threads, larger blocks or several nodes; the storage may be faster than this.`,
  },
  CLOCK: {
    title: t`Clock or start off`,
    caution: t`clock or start off`,
    meaning: t`The time of day was set during the run or is far from the server's, or writers did not begin together; seconds and totals may be wrong.`,
    remedy: t`Let NTP settle before the run and slew rather than step; let each writer write longer; then run again.`,
  },
  ERRORS: {
    title: t`Errors`,
    caution: t`errors`,
    meaning: t`Something was refused, short, different from what was written, or counted as an error by the kernel.`,
    remedy: t`Read the reason and the raw output. If they name the storage or the kernel, read the kernel's log.`,
  },
  ENV_CHANGED: {
    title: t`Environment changed`,
    caution: null,
    meaning: t`A fact of node, mount or tool differs from the previous run of this series.`,
    remedy: t`If it was meant, a step in the trend is explained by it; if not, undo it and run again.`,
  },
  DEGRADED: {
    title: t`Storage busy with itself`,
    caution: t`storage busy with itself`,
    meaning: t`An array lacked a disk, or a rebuild, check, scrub or balance ran below the target.`,
    remedy: t`Run again when it has ended; compare nothing with this run.`,
  },
  FOREIGN_LOAD: {
    title: t`Somebody else was there`,
    caution: t`other load`,
    meaning: t`The node was not quiet just before the run, or processor time or bytes on the target's device were used that the run did not cause.`,
    remedy: t`Find the other load and run again without it, or let runs wait for a quiet node (quiet: wait); compare nothing with this run.`,
  },
  CUT: {
    title: t`Ended early`,
    caution: t`ended before its work was done`,
    meaning: t`The time limit, a cancel or a signal ended the run before its work was done. Its numbers are of a part; the storage is not to blame.`,
    remedy: t`Raise the time limit or reduce the size, then run again.`,
  },
  BOUND: {
    title: t`Only a bound`,
    caution: t`only a bound`,
    meaning: t`The tool's scale ends before this value, so the number shown is a bound.`,
    remedy: t`Read the flag for the bound; compare such a value with no exact one.`,
  },
  LOAD_NOT_MEASURED: {
    title: t`Other load not measured`,
    caution: t`load not measured`,
    meaning: t`Too little was seen of the node before or during the run to tell if others used it.`,
    remedy: t`Use a larger size or a longer run time, or let runs wait for a quiet node (quiet: wait).`,
  },
  WRONG_MOUNT: {
    title: t`Wrong mount`,
    caution: t`wrong mount`,
    meaning: t`The directory stood on another file system than the target's, before or after the run.`,
    remedy: t`Mount the target as it is described, then run again.`,
  },
  FORK_BOUND: {
    title: t`Bound by starting processes`,
    caution: t`limited by starting processes`,
    meaning: t`Most of the time went into starting processes, not into the file system.`,
    remedy: t`Create the files natively.`,
  },
  NO_DIRECT: {
    title: t`No O_DIRECT`,
    caution: t`no O_DIRECT`,
    meaning: t`O_DIRECT was asked for and the file system refuses it, so the cache was used and flushed.`,
    remedy: t`Take the figure as one of buffered writes, or use a file system that allows it.`,
  },
  ZEROES: {
    title: t`Zeroes`,
    caution: t`zeroes written`,
    meaning: t`What compresses or dedupes makes nothing of zeroes and shows too high a rate.`,
    remedy: t`Write random data.`,
  },
  TOO_FAST: {
    title: t`Too fast to measure`,
    caution: t`too fast to measure`,
    meaning: t`The tool itself says that the time was too short for a figure.`,
    remedy: t`Raise the size or the count.`,
  },
  PEER_ODD: {
    title: t`Odd among equals`,
    caution: null,
    meaning: t`This node, target or OST is 5 % or more away from its equals, and so is this run. It still counts.`,
    remedy: t`See the page Peers; compare firmware, cabling, disks and free space with those of its equals.`,
  },
  PUBLISHED: {
    title: t`Published, not measured here`,
    caution: null,
    meaning: t`Others measured it, and the number is as they printed it; how often and how is mostly not told.`,
    remedy: t`Lay your own beside it as points. A verdict needs runs that you can repeat.`,
  },
};

type Code = Flag["code"];

function wordsOf(code: string): FlagWords | undefined {
  return FLAG_WORDS[code as Code];
}

/** `Too short`; a flag that this version does not know is shown by its code. */
export function flagTitle(code: string): string {
  return wordsOf(code)?.title ?? code;
}

export function flagTitles(codes: readonly string[]): string {
  return codes.map(flagTitle).join(", ");
}

/** The cautions of a number by the flags of its runs: `may be cached`, `too short`. An unknown flag is one. */
export function cautionsOf(codes: readonly string[]): string[] {
  return codes.flatMap((code) => {
    const words = wordsOf(code);
    return words === undefined ? [code] : (words.caution ?? []);
  });
}

/** Codes of the flags that concern a number, as `Flag.concerns` of the server decides it. */
export function flagsConcerning(
  flags: readonly Flag[],
  { labels, target_id }: Pick<Sample, "labels" | "target_id">,
): string[] {
  const concerning = flags.filter(
    (flag) =>
      (flag.target_id ?? target_id) === target_id &&
      Object.entries(flag.labels ?? {}).every(([name, value]) => labels[name] === value),
  );
  return [...new Set(concerning.map(({ code }) => code))];
}

/** Those that every one of several numbers has. */
export function commonTo(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return first.filter((one) => others.every((other) => other.includes(one)));
}

/** What to do about a flag that is a caution. */
export function remedyOf(code: string): string | undefined {
  const words = wordsOf(code);
  return words?.caution ? words.remedy : undefined;
}

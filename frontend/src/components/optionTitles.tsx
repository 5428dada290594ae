/** Titles of options. Built-in workloads have one title in all clusters, plug-ins one per cluster. */

import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Workload } from "@/api/types";
import { describerByWorkload, plainTitle, type TitlesOf, type Values } from "@/lib/options";
import { readFields } from "./schema-form/schema";

/** Keys: workload, cluster, option. */
type Titles = ReadonlyMap<string, ReadonlyMap<number | null, ReadonlyMap<string, string>>>;
interface Known {
  readonly titles: Titles;
  readonly clusterId: number | undefined;
}
const TitlesContext = createContext<Known>({ titles: new Map(), clusterId: undefined });

interface OptionTitlesProps {
  readonly workloads: readonly Workload[];
  /** The page's cluster; undefined if it spans several. */
  readonly clusterId?: number | undefined;
  readonly children: ReactNode;
}

export function OptionTitles({ workloads, clusterId, children }: OptionTitlesProps) {
  const around = useContext(TitlesContext);
  const known = useMemo(
    () => ({
      titles: withTitles(around.titles, workloads),
      clusterId: clusterId ?? around.clusterId,
    }),
    [workloads, clusterId, around],
  );
  return <TitlesContext value={known}>{children}</TitlesContext>;
}

function withTitles(around: Titles, workloads: readonly Workload[]): Titles {
  const all = new Map(around);
  // The newest announcement comes first and wins.
  for (const { name, cluster_id, options_schema } of [...workloads].reverse()) {
    const fields = readFields(options_schema).map((field) => [field.name, field.title] as const);
    const of = new Map(all.get(name));
    all.set(name, of.set(cluster_id, new Map([...(of.get(cluster_id) ?? []), ...fields])));
  }
  return all;
}

/**
 * Return the titles of a workload's options in a cluster, or in the page's cluster. Without a known schema, or if the
 * cluster is unknown and titles differ between clusters, the title is made from the name.
 */
export function useTitlesOf(): TitlesOf {
  const known = useContext(TitlesContext);
  return useMemo(
    () =>
      (workload, clusterId = known.clusterId) =>
      (name) => {
        const titles = known.titles.get(workload);
        const own = titles?.get(null)?.get(name);
        if (titles === undefined || own !== undefined) return own ?? plainTitle(name);
        if (clusterId !== undefined) return titles.get(clusterId)?.get(name) ?? plainTitle(name);
        const distinct = new Set([...titles.values()].flatMap((of) => of.get(name) ?? []));
        const [first] = distinct;
        return first !== undefined && distinct.size === 1 ? first : plainTitle(name);
      },
    [known],
  );
}

interface Row {
  readonly workload: string;
  readonly options: Values;
  readonly cluster_id?: number;
}

/** Return the values that distinguish a row from others of its workload, as text. */
export function useDescriber(rows: readonly Row[]) {
  const titlesOf = useTitlesOf();
  return useMemo(() => describerByWorkload(rows, titlesOf), [rows, titlesOf]);
}

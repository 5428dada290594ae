/** The titles of options: iotide's own workloads have one for all clusters, a plug-in one in each cluster. */

import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Workload } from "@/api/types";
import { describerByWorkload, plainTitle, type TitlesOf, type Values } from "@/lib/options";
import { readFields } from "./schema-form/schema";

/** By the workload's name, then by its cluster, then by option. */
type Titles = ReadonlyMap<string, ReadonlyMap<number | null, ReadonlyMap<string, string>>>;
interface Known {
  readonly titles: Titles;
  readonly clusterId: number | undefined;
}
const TitlesContext = createContext<Known>({ titles: new Map(), clusterId: undefined });

interface OptionTitlesProps {
  readonly workloads: readonly Workload[];
  /** The cluster that the page is about; undefined where it spans several. */
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
  // The newest stand first, and name what older ones named otherwise.
  for (const { name, cluster_id, options_schema } of [...workloads].reverse()) {
    const fields = readFields(options_schema).map((field) => [field.name, field.title] as const);
    const of = new Map(all.get(name));
    all.set(name, of.set(cluster_id, new Map([...(of.get(cluster_id) ?? []), ...fields])));
  }
  return all;
}

/**
 * The titles of one workload's options in a cluster, or in the page's. A plain reading of the name stands where no
 * schema is known, and where clusters give an option different titles and the cluster is not known.
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
        const said = new Set([...titles.values()].flatMap((of) => of.get(name) ?? []));
        const [first] = said;
        return first !== undefined && said.size === 1 ? first : plainTitle(name);
      },
    [known],
  );
}

interface Row {
  readonly workload: string;
  readonly options: Values;
  readonly cluster_id?: number;
}

/** Says of a row what tells it from the others of its workload. */
export function useDescriber(rows: readonly Row[]) {
  const titlesOf = useTitlesOf();
  return useMemo(() => describerByWorkload(rows, titlesOf), [rows, titlesOf]);
}

/** The titles of options, from every workload that is known; those of a page's own cluster come before the others'. */

import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Workload } from "@/api/types";
import { describerByWorkload, plainTitle, type TitleOf, type Values } from "@/lib/options";
import { readFields } from "./schema-form/schema";

type Titles = ReadonlyMap<string, ReadonlyMap<string, string>>;
const TitlesContext = createContext<Titles>(new Map());

interface OptionTitlesProps {
  readonly workloads: readonly Workload[];
  readonly children: ReactNode;
}

export function OptionTitles({ workloads, children }: OptionTitlesProps) {
  const around = useContext(TitlesContext);
  const titles = useMemo(() => {
    const all = new Map(around);
    // The newest stand first, and name what older ones named otherwise.
    for (const { name, options_schema } of [...workloads].reverse()) {
      const fields = readFields(options_schema).map((field) => [field.name, field.title] as const);
      all.set(name, new Map([...(all.get(name) ?? []), ...fields]));
    }
    return all;
  }, [workloads, around]);
  return <TitlesContext value={titles}>{children}</TitlesContext>;
}

/** The titles of one workload's options; a plain reading of the name where no schema is known. */
export function useTitlesOf(): (workload: string) => TitleOf {
  const titles = useContext(TitlesContext);
  return useMemo(() => (workload) => (name) => titles.get(workload)?.get(name) ?? plainTitle(name), [titles]);
}

/** Says of a row what tells it from the others of its workload. */
export function useDescriber(rows: readonly { readonly workload: string; readonly options: Values }[]) {
  const titlesOf = useTitlesOf();
  return useMemo(() => describerByWorkload(rows, titlesOf), [rows, titlesOf]);
}

/** Rows of comparisons with their names. */

import { t } from "@lingui/core/macro";
import { useMemo } from "react";
import type { ComparedPair, SidesComparison } from "@/api/types";
import { useDescriber } from "@/components/optionTitles";
import { type Compared, PAIR, pairRow, placesOf, sideNames, sidesRow } from "./compared";

/** Stands for a comparison that is not loaded. */
export const NO_SIDES: SidesComparison = {
  by: null,
  dimensions: [],
  sides: [],
  against: 0,
  rows: [],
  sides_left_out: [],
  rows_left_out: 0,
};

/** Names each pair by its number in A and by its differing options, or else by its location. */
export function useNamedPairs(pairs: readonly ComparedPair[]): Compared {
  const sayOf = useDescriber(useMemo(() => pairs.map(({ a }) => a), [pairs]));
  return useMemo(() => {
    const rows = pairs.map((pair) => {
      const { a, b } = pair;
      const number = a.ordinal === b.ordinal ? a.ordinal : `${a.ordinal}/${b.ordinal}`;
      const alike = pairs.filter((other) => other.a.workload === a.workload);
      const options = new Set(alike.map((other) => JSON.stringify(other.a.options)));
      const where = t`${a.node_names.join("+")} on ${a.target_names.join("+")}`;
      const distinction = alike.length > 1 ? (options.size > 1 ? sayOf(a) : where) : "";
      const name = `${number}: ${[a.workload, distinction].filter(Boolean).join(", ")}`;
      return pairRow(pair, { name, distinction, isOfMany: alike.length < pairs.length });
    });
    return { names: PAIR, against: 0, rows };
  }, [pairs, sayOf]);
}

export function useNamedSides(found: SidesComparison): Compared {
  const say = useDescriber(found.rows);
  return useMemo(() => {
    const { rows, by, against } = found;
    const places = placesOf(rows, by);
    const workloads = new Set(rows.map(({ workload }) => workload));
    const isOfMany = workloads.size > 1;
    const hasOptions = new Set([...workloads].filter((name) => countOptions(rows, name) > 1));
    const named = rows.map((row, at) => {
      const distinction = [hasOptions.has(row.workload) && say(row), places[at]].filter(Boolean).join(", ");
      const name = [isOfMany && row.workload, distinction].filter(Boolean).join(", ") || row.workload;
      return sidesRow(found, row, { name, distinction, isOfMany });
    });
    return { names: sideNames(found), by, against, rows: named };
  }, [found, say]);
}

function countOptions(rows: SidesComparison["rows"], workload: string): number {
  const own = rows.filter((row) => row.workload === workload);
  return new Set(own.map(({ options }) => JSON.stringify(options))).size;
}

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
      const distinction = options.size > 1 ? sayOf(a) : where;
      return pairRow(
        pair,
        `${number}: ${[a.workload, alike.length > 1 && distinction].filter(Boolean).join(", ")}`,
      );
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
    const options = new Set(rows.map((row) => JSON.stringify(row.options)));
    const named = rows.map((row, at) => {
      const parts = [
        workloads.size > 1 && row.workload,
        options.size > workloads.size && say(row),
        places[at],
      ];
      return sidesRow(found, row, parts.filter(Boolean).join(", ") || row.workload);
    });
    return { names: sideNames(found), by, against, rows: named };
  }, [found, say]);
}

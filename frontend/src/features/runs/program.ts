/** One program over the nodes of a run: its head, its members, and how its ranks and nodes compared. */

import type { RunDetail, Sample } from "@/api/types";
import { groupBy } from "@/lib/grouping";
import { tasksOption } from "@/lib/scaling";
import { HEAD } from "./nodeOf";

export interface Program {
  readonly head: string;
  readonly members: readonly string[];
  /** Null if the workload has no such option. */
  readonly tasksPerNode: number | null;
  readonly races: readonly Race[];
}

/** Ranks and nodes of one operation. */
export interface Race {
  readonly key: string;
  readonly labels: Sample["labels"];
  readonly firstDone: Sample | undefined;
  readonly lastDone: Sample | undefined;
  readonly fairness: Sample | undefined;
  /** Rate of the node with the lowest rate. */
  readonly slowest: { readonly node: string; readonly rate: Sample } | undefined;
}

type Order = RunDetail["attempts"][number]["orders"][number];

/** Return the program of the last attempt; undefined if each node has a program of its own. */
export function programOf(run: RunDetail): Program | undefined {
  const orders = run.attempts.at(-1)?.orders ?? [];
  const head = orders.find((order) => roleOf(order) === HEAD);
  if (!head) return undefined;
  const members = orders.filter((order) => roleOf(order) === "member").map(({ node_name }) => node_name);
  const option = tasksOption(run.options);
  return {
    head: head.node_name,
    members,
    tasksPerNode: option === undefined ? null : Number(run.options[option]),
    races: racesOf(run.samples, [head.node_name, ...members]),
  };
}

function roleOf({ step_role }: Order): string | null {
  return step_role;
}

function racesOf(samples: readonly Sample[], nodes: readonly string[]): Race[] {
  const current = samples.filter(({ superseded }) => superseded === null);
  const groups = groupBy(current, ({ labels: { writer: _, ...labels }, target_id }) =>
    JSON.stringify([target_id, Object.entries(labels).sort()]),
  );
  return [...groups]
    .map(([key, own]) => raceOf(key, own, nodes))
    .filter(({ firstDone, lastDone, slowest }) => firstDone ?? lastDone ?? slowest);
}

function raceOf(key: string, own: readonly Sample[], nodes: readonly string[]): Race {
  const named = (metric: string) =>
    own.find((sample) => sample.metric === metric && !("writer" in sample.labels));
  const { writer: _, ...labels } = own[0]?.labels ?? {};
  const rates = own.filter(
    ({ unit, labels: { writer } }) => unit.endsWith("per_second") && nodes.includes(String(writer)),
  );
  const [rate] = rates.toSorted((a, b) => a.value - b.value);
  return {
    key,
    labels,
    firstDone: named("first_done"),
    lastDone: named("last_done"),
    fairness: named("fairness"),
    slowest: rate && { node: String(rate.labels.writer), rate },
  };
}

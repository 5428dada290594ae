/** One program over all nodes of a run: which choices start one, and what their nodes lack. */

import { t } from "@lingui/core/macro";
import type { Node } from "@/api/types";
import type { FormValue } from "@/components/schema-form/values";
import { evaluate, namesIn } from "@/lib/expressions";
import type { Values } from "@/lib/options";
import { tasksOption } from "@/lib/scaling";
import type { NodesAtOnce } from "./places";

interface Announced {
  readonly name: string;
  readonly option_defaults: Values;
  /** Expression over options: 0 if one program runs over all nodes. Servers before it have none. */
  readonly own_programs?: unknown;
}

/** Return whether a set of the chosen options runs as one program over several nodes. */
export function isOneProgram(workload: Announced, form: FormValue): boolean {
  const { option_defaults: defaults, own_programs: ownPrograms } = workload;
  if (ownPrograms === undefined) return false;
  return combinations(form.sweep, namesIn(ownPrograms)).some(
    (swept) => evaluate(ownPrograms, { ...defaults, ...form.options, ...swept }) <= 0,
  );
}

/** Enough to describe a plan on each keystroke; the server decides for each set. */
const MOST_COMBINATIONS = 1000;

function combinations(sweep: FormValue["sweep"], names: readonly string[]): Values[] {
  return names.reduce<Values[]>(
    (found, name) => {
      const values = sweep[name];
      if (!values) return found;
      const each = found.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
      return each.slice(0, MOST_COMBINATIONS);
    },
    [{}],
  );
}

/** Return the numbers of nodes at once; a single node runs a program of its own. */
export function countsOf(nodesAtOnce: NodesAtOnce, nodeCount: number): number[] {
  if (Array.isArray(nodesAtOnce)) return nodesAtOnce.filter((count) => count <= nodeCount);
  return [nodesAtOnce ? nodeCount : 1];
}

/** Return the option with the tasks of a node, if the workload has one. */
export function tasksOf(workload: Announced): string | undefined {
  return tasksOption(workload.option_defaults);
}

const CPUS = "cpu.count";
const MOST_TASKS = 256;
const USUAL_TASKS = 8;

/** Return the most tasks per node of a sweep: the CPUs of the smallest node. */
export function mostTasks(nodes: readonly Pick<Node, "facts">[]): number {
  const counts = nodes.map(({ facts }) => facts[CPUS]).filter((count) => typeof count === "number");
  return counts.length === 0 ? USUAL_TASKS : Math.min(MOST_TASKS, ...counts);
}

type Facts = Pick<Node, "name" | "facts">;

const ADDRESS = "data.address";
const MPI = "mpi.kind";
const LOOPBACK = /^127\./;

/** Return a sentence for each thing that nodes lack by their facts. */
export function lacksOf(nodes: readonly Facts[]): string[] {
  const addresses = nodes.map(({ facts }) => String(facts[ADDRESS] ?? ""));
  const isOneMachine = addresses.every((address) => LOOPBACK.test(address));
  const unreachable = nodes.filter((_, place) => {
    const address = addresses[place] ?? "";
    return address === "" || (LOOPBACK.test(address) && !isOneMachine);
  });
  const without = nodes.filter(({ facts }) => facts[MPI] === undefined);
  return [
    ...(unreachable.length > 0
      ? [
          t`Set data_address in agent.toml of ${namesOf(unreachable)} to an address that the other nodes reach.`,
        ]
      : []),
    ...(without.length > 0 ? [t`Add [mpi] to agent.toml of ${namesOf(without)}.`] : []),
  ];
}

function namesOf(nodes: readonly Facts[]): string {
  return nodes.map(({ name }) => name).join(", ");
}

/** For example `One program over 4 nodes × 8 tasks, started by node01.` */
export function describeProgram(head: string, counts: readonly number[], tasks: readonly string[]): string {
  const several = counts.filter((count) => count > 1).join(", ");
  const words = tasks.join() === "1" ? t`1 task` : t`${tasks.join(", ")} tasks`;
  const nodes = tasks.length > 0 ? t`${several} nodes × ${words}` : t`${several} nodes`;
  const alone = counts.includes(1) ? t` A single node runs a program of its own.` : "";
  return t`One program over ${nodes}, started by ${head}.${alone}`;
}

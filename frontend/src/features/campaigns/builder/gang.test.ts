import { expect, it } from "vitest";
import { countsOf, describeProgram, isOneProgram, lacksOf, mostTasks } from "./gang";

const IOR = {
  name: "ior",
  option_defaults: { tasks: 4, program_per_node: false },
  own_programs: { kind: "name", name: "program_per_node" },
};

const form = (options: object, sweep: Record<string, unknown[]> = {}) => ({ options: { ...options }, sweep });

it("runs as one program unless an option gives each node its own", () => {
  expect(isOneProgram(IOR, form({}))).toBe(true);
  expect(isOneProgram(IOR, form({ program_per_node: true }))).toBe(false);
  expect(isOneProgram(IOR, form({}, { program_per_node: [true, false] }))).toBe(true);
  expect(isOneProgram({ ...IOR, own_programs: { kind: "number", value: 1 } }, form({}))).toBe(false);
});

it("counts like the server: any number that is not above 0 is one program", () => {
  const args = [
    { kind: "number", value: 1 },
    { kind: "name", name: "tasks" },
  ];
  const negative = { kind: "operation", op: "-", args };
  expect(isOneProgram({ ...IOR, own_programs: negative }, form({ tasks: 8 }))).toBe(true);
});

it("looks at a bounded number of swept sets, however many options an expression names", () => {
  const names = Array.from({ length: 30 }, (_, place) => `option${place}`);
  const args = names.map((name) => ({ kind: "name", name }));
  const swept = Object.fromEntries(names.map((name) => [name, [1, 2]]));
  expect(isOneProgram({ ...IOR, own_programs: { kind: "operation", op: "+", args } }, form({}, swept))).toBe(
    false,
  );
});

it("assumes a program on each node if an earlier server does not say", () => {
  expect(isOneProgram({ name: "ior", option_defaults: {} }, form({}))).toBe(false);
});

it("says what will run: nodes, tasks and who starts it", () => {
  expect(describeProgram("node01", [4], ["8"])).toBe(
    "One program over 4 nodes × 8 tasks, started by node01.",
  );
  expect(describeProgram("node01", [2], ["1"])).toBe("One program over 2 nodes × 1 task, started by node01.");
  expect(describeProgram("node01", [1, 2, 4], ["1", "2"])).toBe(
    "One program over 2, 4 nodes × 1, 2 tasks, started by node01. A single node runs a program of its own.",
  );
});

it("counts only nodes that the workload has", () => {
  expect(countsOf([1, 2, 4], 2)).toEqual([1, 2]);
  expect(countsOf(true, 3)).toEqual([3]);
  expect(countsOf(false, 3)).toEqual([1]);
});

const node = (name: string, facts: object) => ({ name, facts: { ...facts } });

const MPI = { "mpi.kind": "mpich" };

it("names the nodes that others cannot reach, but not agents of one machine", () => {
  const far = node("node01", { ...MPI, "data.address": "10.1.0.1" });
  const loopback = node("node02", { ...MPI, "data.address": "127.0.0.1" });
  expect(lacksOf([far, loopback, node("node03", MPI)])).toEqual([
    "Set data_address in agent.toml of node02, node03 to an address that the other nodes reach.",
  ]);
  expect(lacksOf([loopback, loopback])).toEqual([]);
});

it("names the nodes without [mpi]", () => {
  const address = { "data.address": "10.1.0.1" };
  expect(lacksOf([node("node01", { ...address, ...MPI }), node("node02", address)])).toEqual([
    "Add [mpi] to agent.toml of node02.",
  ]);
});

it("sweeps tasks up to the CPUs of the smallest node", () => {
  expect(mostTasks([node("a", { "cpu.count": 64 }), node("b", { "cpu.count": 24 })])).toBe(24);
  expect(mostTasks([node("a", {})])).toBe(8);
});

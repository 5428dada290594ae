import { expect, it } from "vitest";
import { evaluate, namesIn } from "./expressions";

const named = (name: string) => ({ kind: "name", name });
const number = (value: number) => ({ kind: "number", value });
const operation = (op: string, ...args: unknown[]) => ({ kind: "operation", op, args });

it("evaluates an expression as the server does: true is 1, a list its length, holds compares", () => {
  const values = { cluster: true, operations: ["write", "read"], mode: "auto" };
  expect(evaluate(operation("-", number(1), named("cluster")), values)).toBe(0);
  expect(evaluate(operation("*", named("operations"), number(3)), values)).toBe(6);
  expect(evaluate({ kind: "holds", name: "operations", value: "read" }, values)).toBe(1);
  expect(evaluate({ kind: "holds", name: "mode", value: "full" }, values)).toBe(0);
  expect(evaluate(operation("max", number(1), number(4), number(2)), values)).toBe(4);
});

it("has no value with an unknown name or operator", () => {
  expect(evaluate(named("cluster"), {})).toBeNaN();
  expect(evaluate(operation("double", number(1), number(4)), {})).toBeNaN();
  expect(evaluate(undefined, {})).toBeNaN();
});

it("names each option once", () => {
  expect(namesIn(operation("+", named("cluster"), operation("*", named("cluster"), named("tasks"))))).toEqual(
    ["cluster", "tasks"],
  );
});

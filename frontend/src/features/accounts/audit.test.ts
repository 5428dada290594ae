import { expect, it } from "vitest";
import { actionWords, asked, differences, exportAddress, subjectName } from "./audit";

it("shows an action without its subject", () => {
  expect(actionWords("target_changed", "target")).toBe("changed");
  expect(actionWords("alert_rule_created", "alert_rule")).toBe("created");
  expect(actionWords("link_made", "user")).toBe("created a sign-in link");
  expect(actionWords("something_new", "run")).toBe("something new");
});

it("lists changed fields first, and missing ones as null", () => {
  const entry = { before: { name: "t1", path: "/a" }, after: { name: "t1", path: "/b", nodes: ["n1"] } };
  expect(differences(entry)).toEqual([
    { field: "path", before: "/a", after: "/b", isChanged: true },
    { field: "nodes", before: null, after: '["n1"]', isChanged: true },
    { field: "name", before: "t1", after: "t1", isChanged: false },
  ]);
  expect(differences({ before: null, after: null })).toEqual([]);
});

it("uses the last name of the subject", () => {
  const done = { principal_kind: "user" as const, principal_id: 1, principal_name: "ada", subject_id: 1 };
  const target = { ...done, subject_kind: "target" };
  expect(subjectName({ ...target, before: { name: "old" }, after: { name: "new" } })).toBe("new");
  expect(subjectName({ ...target, before: { name: "old" }, after: null })).toBe("old");
  expect(subjectName({ ...target, before: null, after: { name: 7 } })).toBeNull();
  expect(subjectName({ ...done, subject_kind: "user", before: null, after: null })).toBe("ada");
});

it("queries whole days, and exports with the same filters", () => {
  const view = { actor: "ada", kind: "target", id: 3, from: "2026-11-20", to: "2026-11-21", text: "" };
  expect(asked(view)).toEqual({
    actor: "ada",
    subject_kind: "target",
    subject_id: 3,
    from: "2026-11-20T00:00:00.000Z",
    to: "2026-11-21T23:59:59.999999Z",
  });
  expect(exportAddress({ actor: "ada", address: "::1" }, "jsonl")).toBe(
    "/api/v1/audit/export?actor=ada&address=%3A%3A1&format=jsonl",
  );
});

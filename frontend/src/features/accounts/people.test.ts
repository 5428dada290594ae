import { expect, it } from "vitest";
import { whatFollows } from "./leaving";
import { rolesInWords, withRole } from "./roles";
import { tokenEnd } from "./tokenEnd";

const CLUSTERS = [{ id: 1, name: "hpc1" }];

it("says roles with the places that they hold in", () => {
  const roles = [
    { role: "viewer" as const, cluster_id: null },
    { role: "admin" as const, cluster_id: 1 },
    { role: "operator" as const, cluster_id: 9 },
  ];
  expect(rolesInWords(roles, CLUSTERS)).toBe("viewer of all clusters, admin of hpc1, operator of cluster 9");
  expect(rolesInWords([], CLUSTERS)).toBe("none");
});

it("has one role a place", () => {
  const one = withRole([{ role: "viewer", cluster_id: 1 }], 1, "operator");
  expect(one).toEqual([{ role: "operator", cluster_id: 1 }]);
  expect(withRole(one, 1, "")).toEqual([]);
  expect(withRole(one, null, "viewer")).toHaveLength(2);
});

it("tells a token that has ended from one that soon will", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  expect(tokenEnd(null, now)).toBe("never");
  expect(tokenEnd("2026-11-21T10:00:00Z", now)).toBe("expired");
  expect(tokenEnd("2026-12-05T10:00:00Z", now)).toBe("soon");
  expect(tokenEnd("2026-12-05T10:00:01Z", now)).toBe("later");
});

it("says what ends with a person", () => {
  const words = whatFollows({ name: "grace", session_count: 1, token_count: 2, schedule_count: 0 });
  expect(words).toMatch(/1 session ends at once, 2 API tokens are revoked for good, and 0 schedules pause/);
});

import { expect, it } from "vitest";
import { whatFollows } from "./leaving";
import { grantsOf, rolesInWords, usualRoles } from "./roles";
import { tokenEnd } from "./tokenEnd";

const CLUSTERS = [{ id: 1, name: "hpc1" }];

it("describes roles with their clusters", () => {
  const roles = [
    { role: "viewer" as const, cluster_id: null },
    { role: "admin" as const, cluster_id: 1 },
    { role: "operator" as const, cluster_id: 9 },
  ];
  expect(rolesInWords(roles, CLUSTERS)).toBe("viewer in all clusters, admin in hpc1, operator in cluster 9");
  expect(rolesInWords([], CLUSTERS)).toBe("none");
});

it("proposes the viewer of the only cluster, and no cluster if there are several", () => {
  expect(usualRoles(CLUSTERS)).toEqual([{ role: "viewer", cluster_id: 1 }]);
  const several = usualRoles([...CLUSTERS, { id: 2, name: "hpc2" }]);
  expect(several).toEqual([{ role: "viewer", cluster_id: undefined }]);
  expect(grantsOf(several)).toEqual([]);
});

it("distinguishes expired tokens from those that expire soon", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  expect(tokenEnd(null, now)).toBe("never");
  expect(tokenEnd("2026-11-21T10:00:00Z", now)).toBe("expired");
  expect(tokenEnd("2026-12-05T10:00:00Z", now)).toBe("soon");
  expect(tokenEnd("2026-12-05T10:00:01Z", now)).toBe("later");
});

it("describes the consequences of disabling a user", () => {
  const words = whatFollows({ name: "grace", session_count: 1, token_count: 2, schedule_count: 0 });
  expect(words).toMatch(
    /1 session ends immediately, 2 API tokens are revoked permanently, and 0 schedules pause/,
  );
});

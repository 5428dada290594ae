import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { RolesInput } from "./RolesInput";
import { hasRoleProblem, type RoleSets } from "./roles";

const NODES = ["dish", "recorder", "spare"];
let last: RoleSets | undefined;

function Roles() {
  const [roles, setRoles] = useState<RoleSets | undefined>(undefined);
  last = roles;
  return <RolesInput nodes={NODES} onChange={setRoles} roles={roles} />;
}

it("offers chosen pairs, all pairs, or each node by itself", async () => {
  const { user } = renderWithApp(<Roles />);
  await user.click(screen.getByRole("radio", { name: "From one node to another" }));
  expect(last).toEqual([{ sender: "dish", receiver: "recorder" }]);
  await user.selectOptions(screen.getByRole("combobox", { name: "Receiver" }), "spare");
  expect(last).toEqual([{ sender: "dish", receiver: "spare" }]);
  await user.click(screen.getByRole("radio", { name: "Every node to every other" }));
  expect(last).toBe("each_pair");
  await user.click(screen.getByRole("radio", { name: "Within each node" }));
  expect(last).toBeUndefined();
  await user.click(screen.getByRole("radio", { name: "From one node to another" }));
  expect(last).toEqual([{ sender: "dish", receiver: "spare" }]);
});

it("rejects pairs of one node, of none, or of a removed node", () => {
  const between = (sender: string, receiver: string) => ({ roles: [{ sender, receiver }] });
  expect(hasRoleProblem(NODES, between("dish", "recorder"))).toBe(false);
  expect(hasRoleProblem(NODES, between("dish", "dish"))).toBe(true);
  expect(hasRoleProblem(NODES, between("dish", ""))).toBe(true);
  expect(hasRoleProblem(["dish"], between("dish", "recorder"))).toBe(true);
  expect(hasRoleProblem(["dish"], { roles: "each_pair" })).toBe(true);
  expect(hasRoleProblem(["dish"], {})).toBe(false);
  const places = { nodes: ["dish", "recorder"] };
  expect(hasRoleProblem(NODES, { ...between("dish", "spare"), places })).toBe(true);
});

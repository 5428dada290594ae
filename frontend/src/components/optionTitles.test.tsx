import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Workload } from "@/api/types";
import { describeValues } from "@/lib/options";
import { OptionTitles, useTitlesOf } from "./optionTitles";

function workload(name: string, properties: object): Workload {
  return { name, options_schema: { type: "object", properties } } as unknown as Workload;
}

function Shown({ of, option }: { of: string; option: string }) {
  return <p>{describeValues({ [option]: "x" }, useTitlesOf()(of))}</p>;
}

it("names an option by its schema in every list, also where a page knows the workloads of one cluster only", () => {
  const all = [workload("fio", { rw: { title: "Pattern", type: "string" } })];
  const ofCluster = [workload("dd", { bs: { title: "Block size", type: "string" } })];
  render(
    <OptionTitles workloads={all}>
      <Shown of="fio" option="rw" />
      <OptionTitles workloads={ofCluster}>
        <Shown of="fio" option="rw" />
        <Shown of="dd" option="bs" />
      </OptionTitles>
    </OptionTitles>,
  );
  expect(screen.getAllByText("Pattern x")).toHaveLength(2);
  expect(screen.getByText("Block size x")).toBeInTheDocument();
});

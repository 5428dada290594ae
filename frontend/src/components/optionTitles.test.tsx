import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Workload } from "@/api/types";
import { describeValues } from "@/lib/options";
import { OptionTitles, useTitlesOf } from "./optionTitles";

function workload(name: string, properties: object, cluster_id: number | null = null): Workload {
  return { name, cluster_id, options_schema: { type: "object", properties } } as unknown as Workload;
}

function Shown({ of, option, cluster }: { of: string; option: string; cluster?: number }) {
  return <p>{describeValues({ [option]: "x" }, useTitlesOf()(of, cluster))}</p>;
}

function shown(): (string | null)[] {
  return screen.getAllByText(/ x$/).map(({ textContent }) => textContent);
}

it("titles an option by its schema, also on pages that know one cluster's workloads only", () => {
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

const PLUG_INS = [
  workload("copy", { bs: { title: "Theirs", type: "string" }, n: { title: "Count", type: "string" } }, 2),
  workload("copy", { bs: { title: "Ours", type: "string" }, n: { title: "Count", type: "string" } }, 1),
];

it("titles a plug-in's options by their own cluster only", () => {
  render(
    <OptionTitles workloads={PLUG_INS}>
      <Shown cluster={1} of="copy" option="bs" />
      <Shown cluster={2} of="copy" option="bs" />
      <Shown cluster={3} of="copy" option="bs" />
      <OptionTitles clusterId={1} workloads={[]}>
        <Shown of="copy" option="bs" />
        <Shown cluster={2} of="copy" option="bs" />
      </OptionTitles>
    </OptionTitles>,
  );
  expect(shown()).toEqual(["Ours x", "Theirs x", "Bs x", "Ours x", "Theirs x"]);
});

it("uses a plain title if clusters disagree on it", () => {
  render(
    <OptionTitles workloads={PLUG_INS}>
      <Shown of="copy" option="bs" />
      <Shown of="copy" option="n" />
    </OptionTitles>,
  );
  expect(shown()).toEqual(["Bs x", "Count x"]);
});

it("titles options of built-in workloads the same in every cluster", () => {
  const lie = workload("fio", { rw: { title: "Lie", type: "string" } }, 1);
  render(
    <OptionTitles
      clusterId={1}
      workloads={[lie, workload("fio", { rw: { title: "Pattern", type: "string" } })]}
    >
      <Shown of="fio" option="rw" />
    </OptionTitles>,
  );
  expect(shown()).toEqual(["Pattern x"]);
});

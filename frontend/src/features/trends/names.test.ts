import { expect, it } from "vitest";
import type { Series } from "@/api/types";
import { nameSeries } from "./names";

function series(id: number, parts: Partial<Series>): Series {
  const usual = {
    node_names: ["node-a"],
    target_names: ["disk"],
    options: {},
    labels: { operation: "write" },
  };
  return { id, ...usual, ...parts } as unknown as Series;
}

it("leaves out what all have in common", () => {
  const names = nameSeries([
    series(1, { target_names: ["disk"], labels: { operation: "write", file_size_bytes: 268_435_456 } }),
    series(2, { target_names: ["shm"], labels: { operation: "write", file_size_bytes: 1_073_741_824 } }),
  ]);
  expect([...names.values()]).toEqual(["disk · 256 MiB", "shm · 1 GiB"]);
});

it("names options that do not speak for themselves", () => {
  const names = nameSeries([series(1, { options: { jobs: 1 } }), series(2, { options: { jobs: 4 } })]);
  expect(names.get(2)).toBe("jobs 4");
});

it("gives a lone series all its parts", () => {
  expect(nameSeries([series(1, {})]).get(1)).toBe("write · node-a · disk");
});

it("still tells apart a series that lacks an option which another has", () => {
  const names = nameSeries([series(1, {}), series(2, { options: { direct: "never" } })]);
  expect(names.get(1)).toBe("series 1");
  expect(names.get(2)).toBe("direct never");
});

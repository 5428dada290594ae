import { expect, it } from "vitest";
import { diagramOf, WIDTH, wrapped } from "./diagram";

it("draws layers below each other and the disks of an array side by side, with connections", () => {
  const { boxes, lines, height } = diagramOf([
    { kind: "mount /data", facts: ["rw"] },
    { kind: "md raid5", facts: [] },
    { kind: "3 x disk", facts: ["model ST4000"] },
  ]);
  expect(boxes.map(({ title }) => title)).toEqual(["mount /data", "md raid5", "disk", "disk", "disk"]);
  expect(lines).toHaveLength(1 + 3);
  const [mount, raid, first, , last] = boxes;
  expect(raid?.y).toBeGreaterThan((mount?.y ?? 0) + (mount?.height ?? 0));
  expect(first?.x).toBe(0);
  expect((last?.x ?? 0) + (last?.width ?? 0)).toBeCloseTo(WIDTH);
  expect(height).toBe((last?.y ?? 0) + (last?.height ?? 0));
});

it("keeps too many disks in one box", () => {
  expect(diagramOf([{ kind: "24 x disk", facts: [] }]).boxes.map(({ title }) => title)).toEqual([
    "24 x disk",
  ]);
});

it("breaks long options after a comma and marks truncation", () => {
  const options = Array.from({ length: 40 }, (_, number) => `option${number}`).join(",");
  const lines = wrapped(options);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/,$/);
  expect(lines[1]).toMatch(/ …$/);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(50);
  expect(wrapped("")).toEqual([]);
});

import { expect, it, vi } from "vitest";
import { pictureLayout, pictureOf } from "./picture";

const toImage = vi.hoisted(() => vi.fn(async () => "data:image/png;base64,"));
vi.mock("./plotly", () => ({ default: { toImage } }));

it("adds space for the title and the background of the colour scheme", () => {
  const layout = pictureLayout({ margin: { l: 64, t: 16 } }, "Throughput", "#ffffff");
  expect(layout.margin).toEqual({ l: 64, t: 56 });
  expect(layout).toMatchObject({ title: { text: "Throughput" }, paper_bgcolor: "#ffffff" });
});

it.each([
  ["png", 2],
  ["svg", 1],
] as const)("draws a %s as wide as the chart is seen, with the reader's zoom", async (format, scale) => {
  const layout = { xaxis: { range: [1, 2] } };
  // A picture needs only what plotly stores on its element.
  const box = {
    clientWidth: 800,
    clientHeight: 380,
    data: [{ type: "bar" }],
    layout,
  } as unknown as HTMLElement;
  await pictureOf(box, "Throughput", "dark", format);
  expect(toImage).toHaveBeenLastCalledWith(
    {
      data: [{ type: "bar" }],
      layout: expect.objectContaining({ xaxis: { range: [1, 2] }, plot_bgcolor: "#242424", height: 420 }),
    },
    { format, width: 800, height: 420, scale },
  );
  expect(layout).toEqual({ xaxis: { range: [1, 2] } });
});

import { expect, it } from "vitest";
import { escapeTags } from "./escapeTags";

it.each([
  ['<a href="https://elsewhere.example">look</a>', '&lt;a href="https://elsewhere.example">look&lt;/a>'],
  ["<a href=javascript:alert(1)>", "&lt;a href=javascript:alert(1)>"],
  ["<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"],
  ['<b style="color:red">', '&lt;b style="color:red">'],
  ["<span style=x>", "&lt;span style=x>"],
])("shows %s unchanged", (given, shown) => {
  expect(escapeTags(given)).toBe(shown);
});

it.each(["<b>Write</b> (MB/s)", "first<br>second", "%{y}<extra>dd</extra>", "1 < 2 ns"])(
  "leaves %s as plotly takes it, but for a sign that begins no tag",
  (text) => {
    expect(escapeTags(text)).toBe(text.replace("1 < 2", "1 &lt; 2"));
  },
);

it("escapes texts in all parts of a figure, and keeps numbers", () => {
  const x = [1, 2, null];
  const y = new Float32Array([1, 2]);
  const at = new Date(0);
  const figure = escapeTags({
    data: [{ name: "<a>", x, y }],
    layout: { title: { text: "<u>" }, at, off: null },
  });
  expect(figure).toEqual({
    data: [{ name: "&lt;a>", x, y }],
    layout: { title: { text: "&lt;u>" }, at, off: null },
  });
  expect(figure.data[0]?.x).toBe(x);
  expect(figure.data[0]?.y).toBe(y);
});

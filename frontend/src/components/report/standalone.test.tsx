import { expect, it } from "vitest";
import { standaloneHtml } from "./ReportPage";

function sheet(html: string): HTMLElement {
  const made = document.createElement("article");
  made.innerHTML = html;
  return made;
}

it("links from the file to the server", () => {
  const html = standaloneHtml(sheet('<a href="/runs/7">run 7</a>'), "nightly");
  expect(html).toContain(`href="${location.origin}/runs/7"`);
});

it("leaves the page as it is", () => {
  const shown = sheet('<a href="/runs/7">run 7</a>');
  standaloneHtml(shown, "nightly");
  expect(shown.querySelector("a")?.getAttribute("href")).toBe("/runs/7");
});

it("escapes names", () => {
  expect(standaloneHtml(sheet(""), "a <b>")).toContain("<title>a &lt;b&gt;</title>");
});

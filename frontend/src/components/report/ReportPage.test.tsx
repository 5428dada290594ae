import { renderWithApp } from "@testing/render";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { afterEach, expect, it, vi } from "vitest";
import { reportPdf } from "@/api/reportPdf";
import { ReportPage } from "./ReportPage";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function open(): void {
  const pdf = reportPdf("comparison", { campaign: [7, 9], by: undefined, against: 0 });
  renderWithApp(
    <ReportPage back={null} fileName="nightly-7" pdf={pdf} title="nightly">
      text
    </ReportPage>,
  );
}

async function print(): Promise<void> {
  await userEvent.click(screen.getByRole("button", { name: "Print or save as PDF" }));
}

it("downloads the PDF that the server prints with the preferences of this browser", async () => {
  const asked: string[] = [];
  server.use(
    http.get("*/api/v1/comparison/report.pdf", ({ request }) => {
      asked.push(new URL(request.url).search);
      return HttpResponse.arrayBuffer(new ArrayBuffer(8), { headers: { "Content-Type": "application/pdf" } });
    }),
  );
  const saved: string[] = [];
  Object.assign(URL, { createObjectURL: () => "blob:pdf", revokeObjectURL: () => undefined });
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(this.download);
  });
  const printed = vi.fn();
  vi.stubGlobal("print", printed); // happy-dom has none
  open();
  await print();
  await waitFor(() => expect(saved).toEqual(["nightly-7.pdf"]));
  expect(asked[0]).toMatch(/^\?campaign=7&campaign=9&against=0&zone=[A-Za-z%0-9]+&rates=decimal$/);
  expect(printed).not.toHaveBeenCalled();
});

it("prints by the browser if the server does not print", async () => {
  const refusal = { error: { code: "chromium_missing", message: "no Chromium" } };
  server.use(http.get("*/api/v1/comparison/report.pdf", () => HttpResponse.json(refusal, { status: 409 })));
  const printed = vi.fn();
  vi.stubGlobal("print", printed); // happy-dom has none
  open();
  await print();
  await waitFor(() => expect(printed).toHaveBeenCalledOnce());
  expect(screen.queryByText("no Chromium")).not.toBeInTheDocument();
});

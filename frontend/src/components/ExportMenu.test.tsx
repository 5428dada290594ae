import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ExportMenu } from "./ExportMenu";
import { ScrollTable } from "./ScrollTable";
import { Quantity, When } from "./values";

afterEach(() => vi.restoreAllMocks());

/** Resolve to the file name and content of the next download. */
function catchDownload(): Map<string, Blob> {
  const files = new Map<string, Blob>();
  let last = new Blob();
  Object.assign(URL, {
    createObjectURL: (blob: Blob) => {
      last = blob;
      return "blob:kept";
    },
    revokeObjectURL: () => undefined,
  });
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    files.set(this.download, last);
  });
  return files;
}

it("exports the rows shown with stored values and without buttons", async () => {
  const files = catchDownload();
  const { user } = renderWithApp(
    <ScrollTable head={["Node", "Rate", "At", ""]} label="Rates of nodes">
      <tr>
        <td>
          node07 <span aria-hidden="true">*</span>
        </td>
        <td>
          <Quantity unit="bytes_per_second" value={118_234_112} />
        </td>
        <td>
          <When at="2026-11-21T10:00:00Z" />
        </td>
        <td>
          <button type="button">Remove</button>
        </td>
      </tr>
      <tr>
        <td colSpan={3}>no others</td>
      </tr>
    </ScrollTable>,
  );
  await user.click(screen.getByRole("button", { name: "Export Rates of nodes" }));
  await user.click(await screen.findByRole("menuitem", { name: "CSV" }));
  expect(await files.get("rates-of-nodes.csv")?.text()).toBe(
    "Node,Rate [bytes_per_second],At\r\nnode07,118234112,2026-11-21T10:00:00Z\r\nno others,,\r\n",
  );
});

it("offers images of charts, and server files and curl if the path is known", async () => {
  const files = catchDownload();
  const image = vi.fn(async () => "data:image/png;base64,AAAA");
  const { user } = renderWithApp(
    <ExportMenu
      hasFiles
      image={image}
      name="A chart"
      path="/api/v1/points?series_id=3"
      table={() => ({ columns: [], rows: [] })}
    />,
  );
  await user.click(screen.getByRole("button", { name: "Export A chart" }));
  expect(await screen.findByRole("menuitem", { name: "Parquet with every column" })).toHaveAttribute(
    "href",
    "/api/v1/points?series_id=3&format=parquet",
  );
  expect(screen.getByRole("menuitem", { name: "Copy as curl" })).toBeInTheDocument();
  await user.click(screen.getByRole("menuitem", { name: "PNG" }));
  expect(image).toHaveBeenCalledWith("png");
  await vi.waitFor(() => expect([...files.keys()]).toEqual(["a-chart.png"]));
});

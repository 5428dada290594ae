import { useQuery } from "@tanstack/react-query";
import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ApiError } from "@/api/errors";
import { Loaded } from "./Page";

function Rows({ load }: { load: () => Promise<string[]> }) {
  const query = useQuery({ queryKey: ["rows"], queryFn: load });
  return (
    <>
      <button onClick={() => void query.refetch()} type="button">
        refresh
      </button>
      <Loaded empty="nothing yet" isEmpty={(rows) => rows.length === 0} query={query}>
        {(rows) => rows.join(" ")}
      </Loaded>
    </>
  );
}

it("shows a loading state, then the data", async () => {
  renderWithApp(<Rows load={() => Promise.resolve(["one", "two"])} />);
  expect(screen.getByRole("status", { name: "Loading" })).toBeInTheDocument();
  expect(await screen.findByText("one two")).toBeInTheDocument();
});

it("shows the empty state", async () => {
  renderWithApp(<Rows load={() => Promise.resolve([])} />);
  expect(await screen.findByText("nothing yet")).toBeInTheDocument();
});

it("shows the remedy of a rejection and retries on demand", async () => {
  const load = vi.fn<() => Promise<string[]>>();
  load.mockRejectedValueOnce(new ApiError(403, "not_allowed", "you may not see this", "ask an admin"));
  load.mockResolvedValueOnce(["one"]);
  const { user } = renderWithApp(<Rows load={load} />);
  expect(await screen.findByRole("alert")).toHaveTextContent("ask an admin");
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("one")).toBeInTheDocument();
});

it("keeps the data and shows that it is stale", async () => {
  const load = vi.fn<() => Promise<string[]>>();
  load.mockResolvedValueOnce(["one"]).mockRejectedValueOnce(new Error("the server is away"));
  const { user } = renderWithApp(<Rows load={load} />);
  await screen.findByText("one");
  await user.click(screen.getByRole("button", { name: "refresh" }));
  expect(await screen.findByText(/Refresh failed: the server is away/)).toBeInTheDocument();
  expect(screen.getByText("one")).toBeInTheDocument();
});

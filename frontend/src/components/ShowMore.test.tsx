import { useInfiniteQuery } from "@tanstack/react-query";
import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ShowMore } from "./Page";

function Rows({ load }: { load: (page: number) => Promise<string> }) {
  const query = useInfiniteQuery({
    queryKey: ["rows"],
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: 1,
    getNextPageParam: (_page, pages) => (pages.length < 2 ? pages.length + 1 : null),
  });
  return (
    <>
      {query.data?.pages.join(" ")}
      <ShowMore query={query} />
    </>
  );
}

it("shows why the next page failed, and retries", async () => {
  const load = vi.fn<(page: number) => Promise<string>>();
  load.mockResolvedValueOnce("one").mockRejectedValueOnce(new Error("the server is away"));
  load.mockResolvedValueOnce("two");
  const { user } = renderWithApp(<Rows load={load} />);
  await user.click(await screen.findByRole("button", { name: "Show more" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("the server is away");
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("one two")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Show more" })).not.toBeInTheDocument();
});

import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { renderWithApp } from "@testing/render";
import { act, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/errors";
import AwayBanner, { isAwayError } from "./AwayBanner";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const AWAY = new ApiError(0, "unreachable", "the server cannot be reached");

function Asking({ load }: { load: () => Promise<number> }) {
  useQuery({ queryKey: ["asked"], queryFn: load });
  return null;
}

function show(load: () => Promise<number>, isLineUp = true): void {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  renderWithApp(
    <QueryClientProvider client={client}>
      <Asking load={load} />
      <AwayBanner isLineUp={isLineUp} />
    </QueryClientProvider>,
  );
}

async function pass(milliseconds: number): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds));
}

it("takes no answer and a gateway's word for a server that is away, and a refusal for one that is there", () => {
  expect(isAwayError(AWAY)).toBe(true);
  expect(isAwayError(new ApiError(503, "unavailable", "later"))).toBe(true);
  expect(isAwayError(new ApiError(500, "internal", "a fault"))).toBe(false);
  expect(isAwayError(new ApiError(404, "run_not_found", "none"))).toBe(false);
  expect(isAwayError(new Error("of the page itself"))).toBe(false);
  expect(isAwayError(null)).toBe(false);
});

it("says nothing of a server that is away for a moment", async () => {
  show(() => Promise.reject(AWAY));
  await pass(3500);
  expect(screen.queryByRole("alert")).toBeNull();
  await pass(1000);
  expect(screen.getByRole("alert")).toHaveTextContent("The server cannot be reached.");
});

it("asks again by itself, and leaves when there is an answer", async () => {
  const load = vi.fn<() => Promise<number>>().mockRejectedValueOnce(AWAY).mockResolvedValue(7);
  show(load);
  await pass(4500);
  expect(screen.getByRole("alert")).toBeInTheDocument();
  await pass(10_500);
  expect(load).toHaveBeenCalledTimes(2);
  expect(screen.queryByRole("alert")).toBeNull();
});

it("says of a line that is down that there is no news, and of when what is shown is", async () => {
  show(() => Promise.resolve(7), false);
  await pass(4500);
  expect(screen.getByRole("alert")).toHaveTextContent(/No news from the server.*Last updated/);
});

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

it("treats no answer and a gateway error as an unreachable server, but not a rejection", () => {
  expect(isAwayError(AWAY)).toBe(true);
  expect(isAwayError(new ApiError(503, "unavailable", "later"))).toBe(true);
  expect(isAwayError(new ApiError(500, "internal", "a fault"))).toBe(false);
  expect(isAwayError(new ApiError(404, "run_not_found", "none"))).toBe(false);
  expect(isAwayError(new Error("of the page itself"))).toBe(false);
  expect(isAwayError(null)).toBe(false);
});

it("hides a short interruption", async () => {
  show(() => Promise.reject(AWAY));
  await pass(3500);
  expect(screen.queryByRole("alert")).toBeNull();
  await pass(1000);
  expect(screen.getByRole("alert")).toHaveTextContent("The server cannot be reached.");
});

it("retries automatically and disappears once the server answers", async () => {
  const load = vi.fn<() => Promise<number>>().mockRejectedValueOnce(AWAY).mockResolvedValue(7);
  show(load);
  await pass(4500);
  expect(screen.getByRole("alert")).toBeInTheDocument();
  await pass(10_500);
  expect(load).toHaveBeenCalledTimes(2);
  expect(screen.queryByRole("alert")).toBeNull();
});

it("reports interrupted live updates and the time of the last update", async () => {
  show(() => Promise.resolve(7), false);
  await pass(4500);
  expect(screen.getByRole("alert")).toHaveTextContent(/Live updates are interrupted.*Last updated/);
});

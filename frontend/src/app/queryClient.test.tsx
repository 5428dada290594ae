import { notifications, notificationsStore } from "@mantine/notifications";
import type { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/errors";
import { createQueryClient } from "./queryClient";

afterEach(() => notifications.clean());

function clientWithSession() {
  const onSessionEnded = vi.fn();
  const client = createQueryClient(onSessionEnded);
  client.setQueryData(["session"], { principal: {} });
  return { client, onSessionEnded };
}

function fail(client: QueryClient, error: Error, meta = {}): Promise<unknown> {
  const mutation = client.getMutationCache().build(client, { mutationFn: () => Promise.reject(error), meta });
  return mutation.execute(undefined).catch(() => undefined);
}

it("opens the sign-in page with an empty cache when the session has ended", async () => {
  const { client, onSessionEnded } = clientWithSession();
  await fail(client, new ApiError(401, "not_authenticated", "log in first"));
  expect(onSessionEnded).toHaveBeenCalledOnce();
  expect(client.getQueryData(["session"])).toBeUndefined();
});

it("keeps the session after a wrong old password", async () => {
  const { client, onSessionEnded } = clientWithSession();
  await fail(client, new ApiError(401, "wrong_credentials", "name or password is wrong"));
  expect(onSessionEnded).not.toHaveBeenCalled();
});

it("shows a notification for a failure unless its form shows it", async () => {
  const { client } = clientWithSession();
  await fail(client, new ApiError(409, "conflict", "it is busy"), { isShownInPlace: true });
  expect(notificationsStore.getState().notifications).toHaveLength(0);
  await fail(client, new ApiError(409, "conflict", "it is busy", "wait"));
  expect(notificationsStore.getState().notifications).toMatchObject([
    { title: "it is busy", message: "wait" },
  ]);
});

it("retries if the server is unreachable, but not after a rejection", async () => {
  const { client } = clientWithSession();
  const load = vi.fn().mockRejectedValue(new ApiError(404, "run_not_found", "there is no run 7"));
  await client
    .fetchQuery({
      queryKey: ["run", 7],
      queryFn: load,
      retry: client.getDefaultOptions().queries?.retry ?? 0,
    })
    .catch(() => undefined);
  expect(load).toHaveBeenCalledOnce();
});

it.each(["one_at_a_time", "too_many_at_once"])(
  "waits while other requests of the same user are: %s",
  async (code) => {
    const { client } = clientWithSession();
    const busy = new ApiError(429, code, "others are under way", null, null, 0.001);
    const load = vi
      .fn()
      .mockRejectedValueOnce(busy)
      .mockRejectedValueOnce(busy)
      .mockResolvedValue("compared");
    const { retry = 0, retryDelay = 0 } = client.getDefaultOptions().queries ?? {};
    const loaded = client.fetchQuery({ queryKey: ["comparison"], queryFn: load, retry, retryDelay });
    await expect(loaded).resolves.toBe("compared");
  },
);

it("does not retry a request that took the server too long", async () => {
  const { client } = clientWithSession();
  const load = vi.fn().mockRejectedValue(new ApiError(503, "took_too_long", "it took too long"));
  const { retry = 0 } = client.getDefaultOptions().queries ?? {};
  await client.fetchQuery({ queryKey: ["run", 8], queryFn: load, retry }).catch(() => undefined);
  expect(load).toHaveBeenCalledOnce();
});

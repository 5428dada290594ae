import { server } from "@testing/server";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { answer, api } from "./client";
import { ApiError } from "./errors";

const RUN = `${location.origin}/api/v1/runs/:id`;

function fetchRun() {
  return answer(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: 7 } } }));
}

it("returns the data of a response", async () => {
  server.use(http.get(RUN, () => HttpResponse.json({ id: 7 })));
  await expect(fetchRun()).resolves.toMatchObject({ id: 7 });
});

it("sends the headers that the server requires for changes", async () => {
  let csrf: string | null = null;
  server.use(
    http.post(`${RUN}/cancel`, ({ request }) => {
      csrf = request.headers.get("X-Iotide-Csrf");
      return HttpResponse.json({ id: 7 });
    }),
  );
  await answer(api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: 7 } } }));
  expect(csrf).toBe("1");
});

it("turns a refusal into an error with its code, field and remedy", async () => {
  const error = {
    code: "run_not_found",
    message: "there is no run 7",
    field: "run_id",
    value: 7,
    remedy: "see the list",
  };
  server.use(http.get(RUN, () => HttpResponse.json({ error }, { status: 404 })));
  await expect(fetchRun()).rejects.toMatchObject({
    status: 404,
    code: "run_not_found",
    message: "there is no run 7",
    field: "run_id",
    remedy: "see the list",
  });
});

it("describes an unexpected response of a proxy", async () => {
  server.use(http.get(RUN, () => HttpResponse.text("<h1>Bad gateway</h1>", { status: 502 })));
  await expect(fetchRun()).rejects.toMatchObject({ status: 502, code: "unexpected_answer" });
});

it("distinguishes an unreachable server from a refusal", async () => {
  server.use(http.get(RUN, () => HttpResponse.error()));
  const failure = await fetchRun().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ status: 0, code: "unreachable" });
});

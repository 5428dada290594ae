/**
 * Hosts with a token that needs approval: they are pending on the cluster's page; one is approved, another rejected,
 * and the token is revoked.
 */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { heading, look, openLoggedIn } from "./look";
import { given, post } from "./surroundings";

const run = promisify(execFile);
const AGENT = given("IOTIDE_AGENT");

let directory: string;

test.beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "iotide-hosts-"));
});

test.afterAll(() => rm(directory, { recursive: true }));

test("hosts that wait: one is let in, another refused, and the token revoked", async ({
  browser,
  request,
}) => {
  const page = await openLoggedIn(browser);
  const name = `gate-${Date.now()}`;
  const { id } = await post(request, "clusters", { name });
  await page.goto(`/clusters/${id}`);
  const command = await makeToken(page);

  const [good, bad] = [await enrol(command, "good-host"), await enrol(command, "bad-host")];
  expect(await standing(request, good)).toBe("waits");
  await page.reload();
  const waiting = page.getByRole("table", { name: "Pending nodes" });
  await expect(waiting.getByRole("row", { name: /good-host/ })).toContainText(good.fingerprint);
  await expect(waiting.getByRole("row", { name: /bad-host/ })).toContainText(bad.fingerprint);
  await look(page, {
    name: "hosts-that-wait",
    path: `/clusters/${id}`,
    sign: heading("Pending nodes"),
  });

  await waiting.getByRole("checkbox", { name: "Select good-host" }).check();
  await page.getByRole("button", { name: "Approve 1" }).click();
  await expect(
    page.getByRole("table", { name: "Nodes" }).getByRole("link", { name: "good-host" }),
  ).toBeVisible();
  expect(await standing(request, good)).toBe("is let in");

  await waiting.getByRole("checkbox", { name: "Select bad-host" }).check();
  await page.getByRole("button", { name: "Refuse 1" }).click();
  await answerWith(page, "Refuse");
  await expect(waiting).toBeHidden();
  expect(await standing(request, bad)).toBe("is nobody");

  await revokeToken(page);
  await expect(enrol(command, "late-host")).rejects.toMatchObject({ code: 2 });
  await page.context().close();
});

/** By the form on the page of a cluster without nodes; returns the command to run on the hosts. */
async function makeToken(page: Page): Promise<string> {
  await expect(page.getByRole("checkbox", { name: "Require approval of each node" })).toBeChecked();
  await page.getByRole("button", { name: "Create join token" }).click();
  const command = page.getByText(/^echo \S+ \| iotide-agent enroll /);
  await expect(command).toBeVisible();
  return (await command.textContent()) ?? "";
}

interface Host {
  readonly fingerprint: string;
  readonly token: string;
}

/** The user's steps on the host: the command as the page shows it, on a separate disk. */
async function enrol(command: string, name: string): Promise<Host> {
  const state = join(directory, name);
  const config = join(directory, `${name}.toml`);
  const lines = [
    `node_name = "${name}"`,
    `state_directory = "${state}"`,
    `approved_directories = ["${directory}"]`,
  ];
  await writeFile(config, `${lines.join("\n")}\n`, { mode: 0o600 });
  const [, token = "", words = ""] = /^echo (\S+) \| iotide-agent (.*)$/.exec(command) ?? [];
  const enrolling = run(AGENT, [...words.split(" "), "--config", config, "--json"]);
  enrolling.child.stdin?.end(`${token}\n`);
  const { stdout } = await enrolling;
  const identity = JSON.parse(await readFile(join(state, "identity.json"), "utf8")) as { node_token: string };
  return { fingerprint: (JSON.parse(stdout) as Host).fingerprint, token: identity.node_token };
}

/** The server's answer about the host, as its agent asks for it. */
async function standing(request: APIRequestContext, { token }: Host): Promise<string> {
  const answer = await request.get("/api/v1/agent/standing", {
    headers: { Authorization: `Bearer ${token}` },
  });
  if (answer.status() === 401) return "is nobody";
  const { pending_until } = (await answer.json()) as { pending_until: string | null };
  return pending_until === null ? "is let in" : "waits";
}

async function revokeToken(page: Page): Promise<void> {
  const tokens = page.getByRole("table", { name: "Join tokens" });
  await expect(tokens.getByRole("row").nth(1)).toContainText("98");
  await tokens.getByRole("button", { name: /^Revoke join token/ }).click();
  await answerWith(page, "Revoke");
  await expect(tokens).toBeHidden();
}

async function answerWith(page: Page, word: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: word, exact: true }).click();
}

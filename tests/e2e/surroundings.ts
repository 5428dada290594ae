/** Data from the Python side about the iotide under test, and its API as its administrator has it. */

import { type APIRequestContext, expect, type Page } from "@playwright/test";

/** A variable that `test_browser.py` sets. */
export function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start these tests by \`uv run pytest tests/e2e\``);
  return value;
}

/** From now on the page has the administrator's session, without the sign-in form. */
export async function signIn(page: Page): Promise<void> {
  const session = { name: "iotide_session", value: given("IOTIDE_SESSION"), url: given("IOTIDE_URL") };
  await page.context().addCookies([session]);
}

export interface Item {
  readonly id: number;
  readonly name?: string;
}

function headers() {
  return { Authorization: `Bearer ${given("IOTIDE_TOKEN")}` };
}

/** The first page of a list. */
export async function items<T extends Item = Item>(request: APIRequestContext, path: string): Promise<T[]> {
  const answer = await request.get(`/api/v1/${path}`, { headers: headers() });
  return ((await answer.json()) as { items: T[] }).items;
}

export async function post<T = Item>(
  request: APIRequestContext,
  path: string,
  data: object = {},
): Promise<T> {
  const answer = await request.post(`/api/v1/${path}`, { headers: headers(), data });
  expect(answer.ok(), await answer.text()).toBe(true);
  return (await answer.json()) as T;
}

export async function remove(request: APIRequestContext, path: string): Promise<void> {
  const answer = await request.delete(`/api/v1/${path}`, { headers: headers() });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** Cancels the campaign that the page shows: other walks need its node. */
export async function cancelShown(page: Page, request: APIRequestContext): Promise<void> {
  await post(request, `campaigns/${/campaigns\/(\d+)/.exec(page.url())?.[1]}/cancel`);
}

/** Options of fio that write 1 MiB/s, so that the load leaves the processors to the browser. */
export function slowWrites(seconds: number): object {
  const job = `[slow]\nrw=randwrite\nbs=4k\nsize=4m\nrate=1m\ntime_based\nruntime=${seconds}\n`;
  return { job_file: job, space_bytes: "4 MiB", runtime_seconds: seconds };
}

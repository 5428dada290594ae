/** Walks from the overview to a goal: by mouse with counted clicks, then by keyboard alone. Typing does not count. */

import { expect, type Locator, type Page, test } from "@playwright/test";
import { signIn } from "./surroundings";

/** Tab stops of the longest page, twice. */
const MOST_STOPS = 600;

/** Actions of a reader on a page. */
export interface Hand {
  readonly isKeyboard: boolean;
  /** Follow a link, press a button, tick a box or choose a radio button. */
  readonly press: (control: Locator) => Promise<void>;
  readonly type: (field: Locator, text: string) => Promise<void>;
}

/**
 * Walks twice from the overview: by mouse in at most this number of clicks, then by keyboard. The walk may press, type
 * and look, but open no address: a reader who knows the address needs no clicks.
 */
export async function walk(
  page: Page,
  mostClicks: number,
  way: (hand: Hand) => Promise<void>,
): Promise<void> {
  const counted = await count(page);
  const clicks = async () => {
    // The page reports its last click before it answers this.
    await page.evaluate(() => undefined);
    return counted.clicks;
  };
  await signIn(page);
  for (const isKeyboard of [false, true])
    await test.step(isKeyboard ? "by keyboard" : "by mouse", async () => {
      await page.goto("/");
      await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
      Object.assign(counted, { clicks: 0, loads: 0 });
      await way({ isKeyboard, ...(isKeyboard ? KEYBOARD : MOUSE) });
      if (!isKeyboard) test.info().annotations.push({ type: "clicks", description: String(await clicks()) });
      expect(counted.loads, "addresses opened on the way").toBe(0);
      expect(await clicks(), "clicks").toBeLessThanOrEqual(isKeyboard ? 0 : mostClicks);
    });
}

const MOUSE: Pick<Hand, "press" | "type"> = {
  press: (control) => control.click(),
  type: (field, text) => field.fill(text),
};

const KEYBOARD: Pick<Hand, "press" | "type"> = {
  async press(control) {
    const kind = await control.evaluate((element) => element.getAttribute("type"));
    if (kind === "radio") return chooseRadio(control);
    await tabTo(control);
    await control.page().keyboard.press(kind === "checkbox" ? "Space" : "Enter");
  },
  async type(field, text) {
    await tabTo(field);
    await field.page().keyboard.press("Control+A");
    await field.page().keyboard.insertText(text);
  },
};

/** Moves the focus to a control by Tab, as many times as it takes. */
async function tabTo(control: Locator): Promise<void> {
  await expect(control).toBeEnabled();
  let element = await control.elementHandle();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    const state = await element?.evaluate((found) =>
      found.isConnected ? found === document.activeElement : "replaced",
    );
    if (state === true) return;
    // Only then: to find a role reads the whole page.
    if (state === "replaced") element = await control.elementHandle();
    else await control.page().keyboard.press("Tab");
  }
  throw new Error(`Tab never reaches ${control}`);
}

/** Tab reaches only the chosen radio button of a group; arrows choose another. */
async function chooseRadio(radio: Locator): Promise<void> {
  const name = await radio.getAttribute("name");
  const group = radio.page().locator(`input[type=radio][name="${name}"]`);
  await tabTo(group.and(radio.page().locator(":checked")));
  for (let step = await group.count(); step > 0 && !(await radio.isChecked()); step -= 1)
    await radio.page().keyboard.press("ArrowDown");
  await expect(radio).toBeChecked();
}

async function count(page: Page) {
  const counted = { clicks: 0, loads: 0 };
  await page.exposeBinding("iotideClicked", (_source, clicks: number) => {
    counted.clicks += clicks;
  });
  await page.addInitScript(listen);
  page.on("load", () => {
    counted.loads += 1;
  });
  return counted;
}

/** In the page: a press is a click; a choice in a native list is two, which Playwright makes without a press. */
function listen(): void {
  const report = (count: number) => Reflect.get(window, "iotideClicked")(count);
  document.addEventListener("pointerdown", () => report(1), { capture: true });
  document.addEventListener(
    "change",
    ({ target, isTrusted }) => target instanceof HTMLSelectElement && !isTrusted && report(2),
    { capture: true },
  );
}

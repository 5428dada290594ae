// Takes pictures of figures: `node shoot.mjs PICTURES.json`, a list of {url, file, session}.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.env.NODE_PATH}/`)("@playwright/test");
const { address, session, pictures } = JSON.parse(readFileSync(process.argv[2], "utf8"));

const browser = await chromium.launch({ executablePath: process.env.IOTIDE_CHROMIUM, args: ["--no-sandbox"] });
const context = await browser.newContext({
  baseURL: address,
  colorScheme: "light",
  reducedMotion: "reduce",
  viewport: { width: 1440, height: 1400 },
});
await context.addCookies([{ name: "iotide_session", value: session, url: address }]);
const page = await context.newPage();
for (const { path, file } of pictures) {
  await page.goto(path);
  const figure = page.getByRole("region", { name: "Figure" });
  await figure.locator("figure .main-svg").first().waitFor();
  await page.waitForLoadState("networkidle", { timeout: 2000 }).catch(() => undefined); // the change feed never ends
  await figure.screenshot({ path: file });
}
await browser.close();

/** A person's way in Chromium: looks around, is throttled, logs in at the provider, sees the session and leaves. */

const { chromium } = require("playwright-core");

const [url, executablePath] = process.argv.slice(2);
const PICTURES = process.env.IOTIDE_PICTURES;
const SIZES = [
  [1440, 900],
  [390, 844],
];

async function picture(page, name) {
  if (!PICTURES) return;
  for (const [width, height] of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${PICTURES}/openid-${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function walk(page) {
  const refused = [];
  page.on("pageerror", (error) => refused.push(error.message));
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url().replace(url, "")}`);
  });
  await page.goto(`${url}/`);
  await page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor();
  for (const path of ["/campaigns", "/runs", "/schedules", "/incidents", "/trends", "/compare", "/published", "/"]) {
    // The change feed never ends, so the network is never idle. A page sends its requests at once.
    await page.goto(url + path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForTimeout(1000);
  }
  await picture(page, "reader");
  if (refused.length) throw new Error(`the reader was offered what is refused: ${refused}`);

  await page.goto(`${url}/settings`);
  const button = page.getByRole("button", { name: "Sign in", exact: true });
  for (let attempt = 0; attempt < 6; attempt++) {
    await page.getByRole("textbox", { name: /^Name/ }).fill("grace");
    await page.getByRole("textbox", { name: /Password/ }).fill(`guess ${attempt}`);
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await button.click();
    await answered;
  }
  await page.getByText("Too many failed attempts").waitFor();
  await picture(page, "throttled");
  await page.goto(`${url}/login?error=no_role`);
  await page.getByText("None of your groups has a role here").waitFor();
  await picture(page, "refused");

  await page.goto(`${url}/login?next=/settings`);
  await page.getByRole("link", { name: "Sign in with Campus" }).click();
  await page.locator("input[name=login]").fill("u-17");
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.locator("form:not(:has(input[name=login])) button[type=submit]").click();
  await page.getByRole("table", { name: "Sessions" }).getByText("this session").waitFor();
  await picture(page, "sessions");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/session\/end/);
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(Number(process.env.IOTIDE_PATIENCE_MILLISECONDS ?? 30_000));
  try {
    await walk(page);
  } catch (error) {
    console.error(page.url(), (await page.locator("body").innerText()).slice(0, 1000));
    throw error;
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

// Opens each page a number of times in a real Chromium, each time with nothing kept from before, and says when it was there.
// Reads `{url, session, chromium, loads, plotly, points, pages: [{name, path, wanted: {selector: count}}]}` from stdin, writes one line of JSON a load.

const { readFileSync } = require("node:fs");
const { chromium } = require("@playwright/test");

const KINDS_BEFORE_FIRST_PAINT = ["link", "script", "css"];
const LONGEST_MILLISECONDS = 60_000;

/** In the page, each frame from its start: when all that is wanted is there, and nothing that is seen still loads. */
function watch(wanted) {
  const isBusy = () =>
    [...document.querySelectorAll("main [aria-busy=true], main [aria-label='Loading chart']")].some((one) =>
      one.checkVisibility(),
    );
  const look = () => {
    window.iotideFound = Object.fromEntries(
      Object.keys(wanted).map((selector) => [selector, document.querySelectorAll(selector).length]),
    );
    const isThere = Object.entries(wanted).every(([selector, least]) => window.iotideFound[selector] >= least);
    if (!isThere || isBusy()) return requestAnimationFrame(look);
    // The frame in which it was found is painted before the next one begins.
    requestAnimationFrame(() => {
      window.iotideDrawn = performance.now();
    });
  };
  requestAnimationFrame(look);
}

/** In the page: when something was painted first, and what the network had delivered for that, as it came over the wire. */
function firstPaint(kinds) {
  const [painted] = performance.getEntriesByName("first-contentful-paint");
  const [page] = performance.getEntriesByType("navigation");
  const asked = performance.getEntriesByType("resource");
  const before = asked.filter((one) => kinds.includes(one.initiatorType) && one.responseEnd <= painted.startTime);
  const bytes = before.reduce((sum, one) => sum + one.encodedBodySize, page.encodedBodySize);
  return { fcp: painted.startTime, bytes, requests: asked.length + 1 };
}

/** A static chart on a page of its own, which the server never sees. */
async function answerReference(page, { url, plotly, points }) {
  const chart = `const x = Array.from({ length: ${points} }, (_, i) => i);
    Plotly.newPlot("chart", [{ type: "scatter", mode: "lines+markers", x, y: x.map((i) => Math.sin(i / 50)) }]);`;
  const body = `<!doctype html><title>reference</title><main><p>reference</p><figure id="chart"></figure></main>
    <script src="/reference/plotly.js"></script><script>${chart}</script>`;
  await page.route(`${url}/reference`, (route) => route.fulfill({ body, contentType: "text/html" }));
  await page.route(`${url}/reference/plotly.js`, (route) => route.fulfill({ path: plotly }));
}

async function load(browser, asked, { name, path, wanted }) {
  const { url, session } = asked;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await context.addCookies([{ name: "iotide_session", value: session, url }]);
  const page = await context.newPage();
  await page.addInitScript(watch, wanted);
  // Elsewhere, routes would slow down the page.
  if (path === "/reference") await answerReference(page, asked);
  await page.goto(url + path, { waitUntil: "commit" });
  try {
    await page.waitForFunction(() => window.iotideDrawn !== undefined, null, {
      polling: 50,
      timeout: LONGEST_MILLISECONDS,
    });
  } catch (error) {
    const found = await page.evaluate(() => JSON.stringify(window.iotideFound));
    throw new Error(`${name} has no more than ${found}, or still loads`, { cause: error });
  }
  const drawn = await page.evaluate(() => window.iotideDrawn);
  const painted = await page.evaluate(firstPaint, KINDS_BEFORE_FIRST_PAINT);
  await context.close();
  return { name, drawn, ...painted };
}

async function main() {
  const asked = JSON.parse(readFileSync(0, "utf8"));
  const browser = await chromium.launch({
    executablePath: asked.chromium,
    args: ["--no-sandbox", "--disable-background-networking", "--no-first-run", "--enable-unsafe-swiftshader"],
  });
  for (const place of asked.pages) {
    await load(browser, asked, place); // what the server and the disk keep is the same for the rest
    for (let count = 0; count < asked.loads; count++) {
      process.stdout.write(`${JSON.stringify(await load(browser, asked, place))}\n`);
    }
  }
  await browser.close();
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

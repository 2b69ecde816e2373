// runs-alone: it measures how long a page takes, and how much memory
// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Browser, BrowserContext } from "playwright-core";
import { choosePort } from "../../script/lib/ports.mjs";
import { readProcfile } from "../../script/lib/procfile.mjs";
import type { Api, SourceView } from "../support/api.ts";
import { root } from "../support/built.ts";
import { skipBecause } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";
import { browserOrSkip, openTab, settled, signIn } from "./signed-in.ts";

const CODE = "export default { name: 'First', version: '0.0.1', props: { http: '$.interface.http' } };";
/** `npm run bench:dashboard` holds the aims; a busy machine must not fail the tests, which allow ten times as much. */
const isTimed = process.env.DASHBOARD === "timed";
const AIMS = isTimed ? { viewMs: 1000, grownMb: 10 } : { viewMs: 10_000, grownMb: 100 };
const VIEWS = isTimed ? 9 : 1;
const PAGES = isTimed ? 70 : 12;
const SHELL_KB = 45;
const THROTTLE = 4;

/** Longer than an idle process waits before it collects its garbage (src/lib/collect-when-idle.ts). */
const QUIET_MS = isTimed ? 75_000 : 0;

/** As the Procfile starts it. */
const FLAGS = readProcfile(join(root, "Procfile"))
  .find(({ name }) => name === "web")
  ?.args.filter(arg => arg.startsWith("--"));

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const assets = join(root, "dist/dashboard");

/** Runs in the page: notes when its heading and navigation are drawn and its thread is free, and when all has loaded. */
const WATCH = `{
  const seen = (globalThis.view = {});
  const look = () => {
    const isDrawn = document.querySelector("nav") && document.querySelector("main h1");
    if (isDrawn && !seen.interactive) {
      seen.interactive = -1;
      setTimeout(() => { seen.interactive = performance.now(); });
    }
    if (isDrawn && !document.querySelector(".skeleton")) return setTimeout(() => { seen.complete = performance.now(); });
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

describe("the first view of the dashboard", () => {
  let browser: Browser;
  let system: System;
  let web: WorkerProcess;
  let served: System;
  let api: Api;
  let source: SourceView;
  let signedIn: Awaited<ReturnType<BrowserContext["storageState"]>>;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    const port = await choosePort(0);
    const origin = `http://127.0.0.1:${port}`;
    const settings = environmentOf(system.worker.config);
    const env = { ...settings, PORT: String(port), PUBLIC_URL: origin };
    web = spawnWorker("web", env, { flags: FLAGS ?? [] });
    await whenReady(web);
    served = { ...system, baseUrl: `${origin}/v1` };
    api = await system.user();
    source = await api.createSource({ component_code: CODE, name: "first" });
    const events = Array.from({ length: 60 }, (_, n) => ({ event: { n } }));
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { events } });
    await until(async () => (await api.summaries(source.id)).length > 0);
  });
  after(async () => {
    web?.kill("SIGTERM");
    await web?.ended;
    await browser?.close();
    await system?.stop();
  });

  const rssMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${web.pid}/status`, "utf8"))?.[1]) / 1024;

  it(`has a shell of at most ${SHELL_KB} KB, compressed`, () => {
    const page = readFileSync(join(assets, "index.html"), "utf8");
    const names = [...page.matchAll(/\/dashboard\/(assets\/[^"]+)/g)].map(([, name]) => name ?? "");
    const bytes = ["index.html", ...names].map(name => gzipSync(readFileSync(join(assets, name))).length);
    const kb = bytes.reduce((all, one) => all + one, 0) / 1024;
    process.stdout.write(`      ${kb.toFixed(1)} KB in ${bytes.length} files\n`);
    expect(kb).to.be.at.most(SHELL_KB);
  });

  /** The memory of the idle process: what it is when it has changed by less than a MB for a while. */
  async function idleMb(): Promise<number> {
    let last = { mb: rssMb(), at: Date.now() };
    const look = () => {
      const mb = rssMb();
      if (Math.abs(mb - last.mb) >= 1) last = { mb, at: Date.now() };
      return Date.now() - last.at >= QUIET_MS && mb;
    };
    return await until(look, { timeoutMs: 90_000 + 4 * QUIET_MS });
  }

  it("costs the web process little memory, page after page", async function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    this.timeout(180_000 + 10 * QUIET_MS);
    const before = await idleMb();
    const tab = await openTab(browser, served);
    await signIn(tab, api);
    signedIn = await tab.context.storageState();
    const paths = ["", "/sources", `/sources/${source.id}`, "/deliveries", "/webhooks", "/usage", "/keys"];
    let most = before;
    for (let n = 0; n < PAGES; n++) {
      await tab.open(paths[n % paths.length] ?? "");
      await settled(tab.page);
      most = Math.max(most, rssMb());
    }
    await tab.close();
    const grown = (await idleMb()) - before;
    process.stdout.write(
      `      ${before.toFixed(0)} MB, +${grown.toFixed(1)} after ${PAGES} pages; +${(most - before).toFixed(1)} on the way\n`,
    );
    expect(grown).to.be.at.most(AIMS.grownMb);
  });

  it("is interactive within a second on a processor four times as slow", async () => {
    const views: { interactive: number; complete: number }[] = [];
    for (let n = 0; n < VIEWS; n++) {
      // Nothing is cached.
      const context = await browser.newContext({ storageState: signedIn, reducedMotion: "reduce" });
      await context.addInitScript({ content: WATCH });
      const page = await context.newPage();
      const cdp = await context.newCDPSession(page);
      await cdp.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
      await page.goto(`${new URL(served.baseUrl).origin}/dashboard`, { waitUntil: "commit" });
      const seen = () => page.evaluate(() => (globalThis as unknown as { view: (typeof views)[0] }).view);
      views.push(
        await until(async () => {
          const view = await seen();
          return view.interactive > 0 && view.complete > 0 && view;
        }),
      );
      await context.close();
    }
    const interactive = median(views.map(view => view.interactive));
    const complete = median(views.map(view => view.complete));
    process.stdout.write(
      `      interactive after ${interactive.toFixed(0)} ms, complete after ${complete.toFixed(0)} ms (medians of ${VIEWS})\n`,
    );
    expect(interactive).to.be.at.most(AIMS.viewMs);
  });
});

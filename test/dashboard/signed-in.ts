import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { openBrowser } from "../support/browser.ts";
import { root } from "../support/built.ts";
import { skipBecause } from "../support/skip.ts";
import type { System } from "../support/system.ts";
import { until } from "../support/until.ts";

/** For an action of a page, on a busy machine too. */
const PATIENCE_MS = 90_000;
/** Kept by the run, to be looked at. */
const SCREENSHOTS = join(root, ".cache/screenshots");

const axe = () => readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A tab of the dashboard that notes everything that a browser complains about. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  /** Errors of the console, exceptions, and violations of the policy, each with its page. */
  problems: string[];
  open(path: string): Promise<void>;
  /** Goes to a screen as a link does, without loading the page again. */
  go(path: string): Promise<void>;
  close(): Promise<void>;
}

export interface Look {
  width?: number;
  height?: number;
  colours?: "light" | "dark";
}

/** Starts Chromium, or skips the tests of `context` with the reason. */
export async function browserOrSkip(
  context: Mocha.Context,
  hosts: string[] = [],
  port?: number,
): Promise<Browser> {
  const opened = await openBrowser(hosts, port);
  if (!("missing" in opened)) return opened;
  return skipBecause(context, opened.missing);
}

/** Runs in the page: changes the address, and waits until the screen is drawn. */
async function goTo(address: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
  const { history, dispatchEvent, PopStateEvent, requestAnimationFrame } = globalThis as any;
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  for (let frame = 0; frame < 3; frame += 1) await new Promise(resolve => requestAnimationFrame(resolve));
}

/** Opens a tab; it is not signed in. */
export async function openTab(
  browser: Browser,
  system: Pick<System, "baseUrl">,
  look: Look = {},
): Promise<Tab> {
  const { width = 1280, colours = "light", height = width < 600 ? 844 : 860 } = look;
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme: colours, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  // Not as a script of the page, which its policy forbids.
  await context.addInitScript({ content: axe() });
  const page = await context.newPage();
  const problems: string[] = [];
  const note = (what: string) => problems.push(`${new URL(page.url()).pathname}: ${what}`);
  page.on(
    "console",
    message => message.type() === "error" && note(`${message.text()} ${message.location().url}`),
  );
  page.on("pageerror", error => note(error.stack ?? error.message));
  const { origin } = new URL(system.baseUrl);
  return {
    page,
    context,
    problems,
    open: async path => {
      await page.goto(`${origin}/dashboard${path}`);
    },
    go: path => page.evaluate(goTo, `/dashboard${path}`),
    close: () => context.close(),
  };
}

/** Signs in by the page, with the keyboard only. */
export async function signIn({ page, open }: Tab, api: Api, path = ""): Promise<void> {
  await open(path);
  await page.getByLabel("API key").focus();
  await page.keyboard.type(api.apiKey);
  await page.keyboard.press("Enter");
  await page.locator("main.page h1").waitFor();
}

/** Waits until nothing on the page says that it is loading, and its fonts and pictures are there. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main h1").waitFor();
  await until(async () => (await page.locator(".skeleton").count()) === 0, {
    what: `${page.url()} is loaded`,
  });
}

/** Makes the tab look hidden to its page, or shown again: a headless browser hides none. */
export function setHidden(page: Page, isHidden: boolean): Promise<void> {
  return page.evaluate(hidden => {
    // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
    const { document, Event } = globalThis as any;
    Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

interface Axe {
  run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
}

/** What axe finds on the page, as `rule: element`; only what is serious. `rules`: all of them unless given. */
export function seriousFindings(page: Page, rules: string[] = []): Promise<string[]> {
  return page.evaluate(async only => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run(only.length > 0 ? { runOnly: only } : {});
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html.slice(0, 160)}`));
  }, rules);
}

/** Keeps a picture of the page, or of what the window shows of it, below `.cache/screenshots`. */
export async function keepScreenshot(page: Page, name: string, fullPage = true): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
}

/** Presses "Save", and returns once the change of the thing with this id was accepted: an earlier message may still be shown. */
export async function saveAndWait(page: Page, id: string): Promise<void> {
  const saved = page.waitForResponse(
    response => response.request().method() !== "GET" && new URL(response.url()).pathname.endsWith(`/${id}`),
  );
  await page.getByRole("button", { name: "Save", exact: true }).click();
  expect((await saved).status()).to.equal(200);
}

/** Waits until a field is marked as wrong: the page shows a response a moment after it has arrived. */
export async function isInvalid(field: Locator): Promise<void> {
  await until(async () => (await field.getAttribute("aria-invalid")) === "true", {
    what: "a field that is marked",
  });
}

import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, type Look, openTab, settled, signIn, type Tab } from "./signed-in.ts";

/** A system of a test, and its dashboard in a browser with a user who is signed in. */
export interface Opened {
  system: System;
  browser: Browser;
  api: Api & { userId: string };
  tab: Tab;
  page: Page;
  /** Goes to a screen, and waits until it is drawn. */
  show(path: string): Promise<void>;
  close(): Promise<void>;
}

interface Wanted {
  env?: Record<string, string>;
  plan?: "free" | "paid";
  look?: Look;
}

/** Starts a system and opens its dashboard, or skips the tests of `context`. */
export async function openDashboard(context: Mocha.Context, wanted: Wanted = {}): Promise<Opened> {
  const { env = {}, plan = "paid", look = {} } = wanted;
  const browser = await browserOrSkip(context);
  const system = await startSystem(env);
  const api = await system.user({ plan });
  const tab = await openTab(browser, system, look);
  await signIn(tab, api);
  return {
    ...{ system, browser, api, tab, page: tab.page },
    show: async path => {
      await tab.go(path);
      await settled(tab.page);
    },
    close: async () => {
      await browser.close();
      await system.stop();
    },
  };
}

import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, type Look, openTab, settled, signIn, type Tab } from "./signed-in.ts";

/** A system whose dashboard the owner of an account has open in a browser. */
export interface Visit {
  browser: Browser;
  system: System;
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
  /** Makes what there is to see, before anything is opened. */
  prepare?: (made: Pick<Visit, "system" | "api">) => Promise<unknown>;
  /** Where to begin, once that is made; the overview unless given. */
  path?: () => string;
  look?: Look;
}

/** Starts a system, and opens its dashboard for a new account, without quotas unless its plan is free; or skips the tests of `context`. */
export async function openDashboard(
  context: Mocha.Context,
  { env = {}, plan = "paid", prepare, path = () => "", look }: Wanted = {},
): Promise<Visit> {
  const browser = await browserOrSkip(context);
  const system = await startSystem(env);
  const api = await system.user({ plan });
  await prepare?.({ system, api });
  const tab = await openTab(browser, system, look);
  await signIn(tab, api, path());
  await settled(tab.page);
  return {
    ...{ browser, system, api, tab, page: tab.page },
    show: async to => {
      await tab.go(to);
      await settled(tab.page);
    },
    close: async () => {
      await browser.close();
      await system.stop();
    },
  };
}

import type { Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, openTab, saveAndWait, settled, signIn, type Tab } from "./signed-in.ts";

/** A source whose settings are shown to its signed-in owner. */
export interface SettingsPage {
  system: System;
  api: Api;
  source: SourceView;
  tab: Tab;
  page: Page;
  /** The source as it is stored. */
  stored(): Promise<SourceView & { secrets_set: string[]; dynamic_props_id: string | null }>;
  save(): Promise<void>;
  close(): Promise<void>;
}

/** Deploys code and opens the settings of its source in a browser, or skips the tests of `context`. */
export async function openSettings(
  context: Mocha.Context,
  component_code: string,
  configured_props: Record<string, unknown>,
): Promise<SettingsPage> {
  const browser = await browserOrSkip(context);
  const system = await startSystem();
  const api = await system.user();
  const source = await api.createSource({ component_code, configured_props });
  const tab = await openTab(browser, system);
  await signIn(tab, api, `/sources/${source.id}/settings`);
  await settled(tab.page);
  return {
    ...{ system, api, source, tab, page: tab.page },
    stored: () => api.expect(200, "GET", `/sources/${source.id}`),
    save: () => saveAndWait(tab.page, source.id),
    close: async () => {
      await browser.close();
      await system.stop();
    },
  };
}

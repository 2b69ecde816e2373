import type { SourceView } from "../support/api.ts";
import { saveAndWait } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

/** A source whose settings are shown to its signed-in owner. */
export interface SettingsPage extends Visit {
  source: SourceView;
  /** The source as it is stored. */
  stored(): Promise<SourceView & { secrets_set: string[]; dynamic_props_id: string | null }>;
  save(): Promise<void>;
}

/** Deploys code and opens the settings of its source in a browser, or skips the tests of `context`. */
export async function openSettings(
  context: Mocha.Context,
  component_code: string,
  configured_props: Record<string, unknown>,
): Promise<SettingsPage> {
  const opened = await openDashboard(context, { plan: "free" });
  const { api, page, show } = opened;
  const source = await api.createSource({ component_code, configured_props });
  await show(`/sources/${source.id}/settings`);
  return {
    ...opened,
    source,
    stored: () => api.expect(200, "GET", `/sources/${source.id}`),
    save: () => saveAndWait(page, source.id),
  };
}

import { resolve } from "node:path";
import { findCaller } from "../../accounts/api-keys.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import { presentComponent } from "../../components/present.ts";
import { saveModules } from "../../components/service.ts";
import { AppError } from "../../lib/errors.ts";
import type { ApiClient } from "../api.ts";
import { isUrl } from "../dev/load.ts";
import type { WithPlatform } from "../run.ts";

/** A component that is saved in the caller's account. */
export interface Saved {
  id: string;
  name: string;
  configurable_props: { name: string; type: string }[];
}

/**
 * Saves a component: an address and a single file through the API. A file that imports others goes through the stores,
 * since the API takes code as one file; then this machine must have the server's settings. Throws AppError.
 */
export async function saveGiven(
  what: string,
  api: ApiClient,
  { apiKey, withPlatform }: { apiKey: string; withPlatform: WithPlatform },
): Promise<Saved> {
  const save = async (body: object) => (await api.request<{ data: Saved }>("POST", "/components", body)).data;
  if (isUrl(what)) return save({ component_url: what });
  const { entry, modules } = await readModuleGraph(fromFile(resolve(what)));
  if (modules.size === 1) return save({ component_code: entry.source.text });
  return withPlatform(async platform => {
    const caller = await findCaller(platform, apiKey);
    if (!caller) {
      throw new AppError(
        "unauthenticated",
        `${what} imports other files, and the stores that the settings here name do not know the API key`,
      );
    }
    const saver = { ownerId: caller.userId, userId: caller.userId };
    const component = await saveModules(platform, saver, fromFile(resolve(what)), null);
    return presentComponent(component);
  }).catch((error: unknown) => {
    if ((error as Error).name !== "ConfigError") throw error;
    const way = "give an address (component_url follows imports), or the server's settings";
    throw new AppError("invalid", `${what} imports other files, which the API does not take: ${way}`, {
      cause: error,
    });
  });
}

import { resolve } from "node:path";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { findCaller } from "../../accounts/api-keys.ts";
import { fromFile } from "../../components/load-modules.ts";
import { readModuleGraph } from "../../components/module-graph.ts";
import { presentComponent } from "../../components/present.ts";
import { saveModules } from "../../components/save.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { isUrl } from "../dev/load.ts";
import type { Access } from "../remote/access.ts";
import type { WithPlatform } from "../run.ts";

/** A component saved in the caller's account. */
export interface SavedComponent {
  id: string;
  name: string;
  configurable_props: { name: string; type: string }[];
}

/**
 * Saves the component at a URL or in a file. A URL and a single file go through the API. A file that imports others
 * goes through the stores, because the API accepts code as one file only; this machine must then have the server's
 * settings. Throws AppError.
 */
export async function saveComponentAt(
  location: string,
  client: Headwater,
  { access, withPlatform }: { access: Access; withPlatform: WithPlatform },
): Promise<SavedComponent> {
  if (isUrl(location)) return client.components.create({ component_url: location });
  const { entry, modules } = await readModuleGraph(fromFile(resolve(location)));
  if (modules.size === 1) return client.components.create({ component_code: entry.source.text });
  return withPlatform(async platform => {
    const caller = await findCaller(platform, access.apiKey);
    if (!caller) {
      throw new AppError(
        "unauthenticated",
        `${location} imports other files, and the API key is unknown in the stores of this machine's settings`,
      );
    }
    const { orgId } = access;
    if (orgId !== undefined && !caller.orgIds.includes(orgId)) throw notFound("organization");
    const saver = { ownerId: orgId ?? caller.userId, userId: caller.userId };
    const component = await saveModules(platform, saver, fromFile(resolve(location)), null);
    return presentComponent(component);
  }).catch((error: unknown) => {
    if ((error as Error).name !== "ConfigError") throw error;
    const remedy = "deploy from a URL, whose imports are followed, or provide the server's settings";
    throw new AppError(
      "invalid",
      `${location} imports other files, which the API does not accept: ${remedy}`,
      {
        cause: error,
      },
    );
  });
}

import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";

/** So many ids are named in a message. */
const MAX_SHOWN = 5;

/** Returns a source by its id or name slug. Throws the client's `not-found`. */
export const findSource = (client: Headwater, idOrName: string): Promise<Schemas["SourceDetail"]> =>
  client.sources.get(idOrName);

/** Returns the id of a source, given as id or name slug, or of a workflow, given as id. */
export async function findEmitterId(client: Headwater, idOrName: string): Promise<string> {
  if (/^(p|dc)_/.test(idOrName)) return idOrName;
  return (await findSource(client, idOrName)).id;
}

/** Returns a webhook by its id or name. Throws AppError `not-found`, and `invalid` if several have that name. */
export async function findWebhook(client: Headwater, idOrName: string): Promise<Schemas["Webhook"]> {
  if (/^wh_/.test(idOrName)) return await client.webhooks.get(idOrName);
  const found: Schemas["Webhook"][] = [];
  for await (const webhook of client.webhooks.list()) if (webhook.name === idOrName) found.push(webhook);
  const [only] = found;
  if (!only)
    throw new AppError("not-found", `webhook: none is called ${idOrName}; headwater webhook list shows them`);
  if (found.length === 1) return only;
  const ids = found.slice(0, MAX_SHOWN).map(({ id }) => id);
  throw new AppError(
    "invalid",
    `webhook: several are called ${idOrName}, name one by its id: ${ids.join(", ")}`,
  );
}

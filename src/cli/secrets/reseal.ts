import { type Source, Sources } from "../../models/source.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import type { Secrets } from "../../store/secrets.ts";

/** What `reseal` did. */
export interface Resealed {
  /** How many were encrypted again. */
  sources: number;
  webhooks: number;
  /** Ids of those that no key of `SECRETS_KEY` can read; up to 100. */
  unreadable: string[];
}

type Deps = Pick<Platform, "mongo" | "secrets">;

const BATCH = 200;
const MAX_SHOWN = 100;

/**
 * Encrypts with the first key of `SECRETS_KEY` what is stored under another one: props of sources, custom headers and
 * signing keys of webhooks. Afterwards the other keys are no longer needed. What a request changes at the same moment is
 * left as the request has it, which is under the first key of that process. Throws as the driver does.
 */
export async function reseal({ mongo, secrets }: Deps): Promise<Resealed> {
  const result: Resealed = { sources: 0, webhooks: 0, unreadable: [] };
  const sources = Sources(mongo).find({}, { configured_props: 1 }).lean().batchSize(BATCH).cursor();
  for await (const source of sources)
    result.sources += await one(source, () => resealSource({ mongo, secrets }, source));
  const webhooks = Webhooks(mongo).find({}, { headers: 1, signing_keys: 1 }).lean().batchSize(BATCH).cursor();
  for await (const webhook of webhooks) {
    result.webhooks += await one(webhook, () => resealWebhook({ mongo, secrets }, webhook));
  }
  return result;

  /** Returns 1 if the item was changed. An item that can't be read is listed, and the others go on. */
  async function one({ _id }: { _id: string }, change: () => Promise<number> | null): Promise<number> {
    const changed = change();
    if (changed !== null) return await changed;
    if (result.unreadable.length < MAX_SHOWN) result.unreadable.push(_id);
    return 0;
  }
}

function resealSource(
  { mongo, secrets }: Deps,
  { _id, configured_props }: Pick<Source, "_id" | "configured_props">,
): Promise<number> | null {
  const again = sealedAgain(secrets, configured_props);
  if (again === null) return null;
  if (again === configured_props) return Promise.resolve(0);
  return changed(Sources(mongo).updateOne({ _id, configured_props }, { configured_props: again }));
}

function resealWebhook(
  { mongo, secrets }: Deps,
  webhook: Pick<Webhook, "_id" | "headers" | "signing_keys">,
): Promise<number> | null {
  const { _id, headers, signing_keys } = webhook;
  const againHeaders = headers === null ? null : sealedAgain(secrets, headers);
  const againKeys = signing_keys.map(key => ({ ...key, sealed: sealedAgain(secrets, key.sealed) }));
  if ((headers !== null && againHeaders === null) || againKeys.some(({ sealed }) => sealed === null))
    return null;
  const isSame =
    againHeaders === headers && againKeys.every(({ sealed }, i) => sealed === signing_keys[i]?.sealed);
  if (isSame) return Promise.resolve(0);
  const change = { headers: againHeaders, signing_keys: againKeys as Webhook["signing_keys"] };
  return changed(Webhooks(mongo).updateOne({ _id, headers, signing_keys }, change));
}

/** Returns the text under the first key, itself if it is already, and null if no key can read it. */
function sealedAgain(secrets: Secrets, sealed: string): string | null {
  if (secrets.isUnderFirstKey(sealed)) return sealed;
  try {
    return secrets.seal(secrets.open(sealed));
  } catch {
    return null;
  }
}

const changed = async (update: PromiseLike<{ modifiedCount: number }>) => (await update).modifiedCount;

import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { type Change, fieldChanges } from "./change.ts";
import { changedDelivery, compareDelivery, newDelivery } from "./delivery-fields.ts";
import type { DifferingSecrets } from "./differing-secrets.ts";
import { compareNamed } from "./named-secrets.ts";
import type { Declared } from "./read-file.ts";
import { fullName, type State } from "./state.ts";

interface Tools {
  client: Headwater;
  differing: DifferingSecrets;
  /** Gets the signing key of each webhook that is made. */
  onKey: (name: string, signingKey: string) => void;
}

/** Returns what is to be done to the webhooks of a file. */
export async function planWebhooks(
  { raw, resolved }: Declared,
  { webhooks }: State,
  { client, differing, onKey }: Tools,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [key, wanted] of Object.entries(resolved.webhooks ?? {})) {
    const name = fullName(resolved.project, key);
    const shown = raw.webhooks?.[key] ?? wanted;
    const current = webhooks.get(key);
    const { url, headers } = wanted;
    const fields = fieldChanges([
      { field: "url", current: current?.url, wanted: url, raw: shown.url },
      ...compareDelivery(wanted, shown, current),
    ]).concat(
      await compareNamed({
        field: "headers",
        wanted: Object.keys(headers ?? {}).map(header => header.toLowerCase()),
        current: current?.header_names ?? [],
        differs: async () => (await differing(current?.id ?? "", { headers })).length > 0,
      }),
    );
    if (!current) {
      const apply: Change["apply"] = async ids => {
        const created = await client.webhooks.create({
          ...{ name, url, ...newDelivery(wanted) },
          ...(headers !== undefined && { headers }),
        });
        ids.webhooks.set(key, created.id);
        onKey(name, created.signing_key);
        if (wanted.active === false) await client.webhooks.update(created.id, { active: false });
      };
      changes.push({ action: "create", kind: "webhook", name, fields, apply });
    } else if (fields.length > 0) {
      const apply = async () => {
        const body = { url, ...changedDelivery(wanted), headers: headers ?? null };
        await client.webhooks.update(current.id, body);
      };
      changes.push({ action: "update", kind: "webhook", name, fields, apply });
    }
  }
  return changes;
}

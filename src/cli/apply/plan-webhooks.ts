import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { type Change, type FieldChange, fieldChanges } from "./change.ts";
import { changedDelivery, compareDelivery, newDelivery } from "./delivery-fields.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredWebhook } from "./schema.ts";
import { fullName, type State } from "./state.ts";

interface Tools {
  client: Headwater;
  /** Whether secrets, which the server does not show, are sent again. */
  sendsSecrets: boolean;
  /** Gets the signing key of each webhook that is made. */
  onKey: (name: string, signingKey: string) => void;
}

/** Returns what is to be done to the webhooks of a file. */
export function planWebhooks(
  { raw, resolved }: Declared,
  { webhooks }: State,
  { client, sendsSecrets, onKey }: Tools,
): Change[] {
  return Object.entries(resolved.webhooks ?? {}).flatMap(([key, wanted]): Change[] => {
    const name = fullName(resolved.project, key);
    const shown = raw.webhooks?.[key] ?? wanted;
    const current = webhooks.get(key);
    const { url, headers } = wanted;
    const fields = fieldChanges([
      { field: "url", current: current?.url, wanted: url, raw: shown.url },
      ...compareDelivery(wanted, shown, current),
    ]).concat(headerChanges(wanted, shown, current?.header_names ?? [], sendsSecrets || !current));
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
      return [{ action: "create", kind: "webhook", name, fields, apply }];
    }
    if (fields.length === 0) return [];
    const apply = async () => {
      const body = { url, ...changedDelivery(wanted), headers: headers ?? null };
      await client.webhooks.update(current.id, body);
    };
    return [{ action: "update", kind: "webhook", name, fields, apply }];
  });
}

/** The values of headers are never shown, so only their names are compared. */
function headerChanges(
  { headers = {} }: DeclaredWebhook,
  raw: DeclaredWebhook,
  current: readonly string[],
  sendsSecrets: boolean,
): FieldChange[] {
  const names = (list: readonly string[]) =>
    list
      .map(name => name.toLowerCase())
      .sort()
      .join(", ");
  const wanted = Object.keys(headers);
  const isSame = names(wanted) === names(current);
  if (isSame && (!sendsSecrets || wanted.length === 0)) return [];
  const from = current.length > 0 ? { from: names(current) } : {};
  return [
    { field: "headers", ...from, to: wanted.length > 0 ? names(Object.keys(raw.headers ?? {})) : null },
  ];
}

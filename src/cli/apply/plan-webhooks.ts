import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { type Change, type Comparison, type FieldChange, fieldChanges } from "./change.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredWebhook } from "./schema.ts";
import { fullName, type State } from "./state.ts";

interface Options {
  /** Whether secrets, which the server does not show, are sent again. */
  sendsSecrets: boolean;
}

/** Returns what is to be done to the webhooks of a file. `onKey` gets the signing key of each that is made. */
export function planWebhooks(
  client: Headwater,
  { raw, resolved }: Declared,
  { webhooks }: State,
  { sendsSecrets, onKey }: Options & { onKey: (name: string, signingKey: string) => void },
): Change[] {
  return Object.entries(resolved.webhooks ?? {}).flatMap(([key, wanted]): Change[] => {
    const name = fullName(resolved.project, key);
    const shown = raw.webhooks?.[key] ?? wanted;
    const current = webhooks.get(key);
    if (!current) {
      const fields = fieldChanges(comparisonsOf(wanted, shown)).concat(
        headerChanges(wanted, shown, [], true),
      );
      const apply: Change["apply"] = async ids => {
        const { description, headers, active } = wanted;
        const created = await client.webhooks.create({
          name,
          ...limitsOf(wanted),
          ...(description !== undefined && { description }),
          ...(headers !== undefined && { headers }),
        });
        ids.webhooks.set(key, created.id);
        onKey(name, created.signing_key);
        if (active === false) await client.webhooks.update(created.id, { active });
      };
      return [{ action: "create", kind: "webhook", name, fields, apply }];
    }
    const fields = fieldChanges(comparisonsOf(wanted, shown, current)).concat(
      headerChanges(wanted, shown, current.header_names, sendsSecrets),
    );
    if (fields.length === 0) return [];
    const apply = async () => {
      const { description = null, headers = null, active } = wanted;
      const body = { ...limitsOf(wanted), description, headers, ...(active !== undefined && { active }) };
      await client.webhooks.update(current.id, body);
    };
    return [{ action: "update", kind: "webhook", name, fields, apply }];
  });
}

function comparisonsOf(
  wanted: DeclaredWebhook,
  raw: DeclaredWebhook,
  current?: Schemas["Webhook"],
): Comparison[] {
  const { url, description, max_in_flight, rate_limit_per_second, ordered = false, active } = wanted;
  const compare = (field: keyof DeclaredWebhook & keyof Schemas["Webhook"], value: unknown) => ({
    field,
    current: current?.[field],
    wanted: value,
    raw: raw[field] ?? value,
  });
  return [
    compare("url", url),
    compare("description", description),
    compare("max_in_flight", max_in_flight),
    compare("rate_limit_per_second", rate_limit_per_second),
    ...(current || ordered ? [compare("ordered", ordered)] : []),
    // Not declared, it stays as it is: the platform may have disabled it.
    ...(active === undefined ? [] : [compare("active", active)]),
  ];
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

const limitsOf = (wanted: DeclaredWebhook) => ({
  url: wanted.url,
  max_in_flight: wanted.max_in_flight ?? null,
  rate_limit_per_second: wanted.rate_limit_per_second ?? null,
  ordered: wanted.ordered ?? false,
});

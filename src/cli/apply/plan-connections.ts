import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { type Change, fieldChanges } from "./change.ts";
import type { DifferingSecrets } from "./differing-secrets.ts";
import { compareNamed } from "./named-secrets.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredConnection } from "./schema.ts";
import { fullName, type State } from "./state.ts";

interface Tools {
  client: Headwater;
  /** The file, for messages. */
  path: string;
  differing: DifferingSecrets;
}

/** What is to be done to the connections of a file. */
interface PlannedConnections {
  changes: Change[];
  /** Commands with which a person asks for the consent that only a person can give. */
  consents: string[];
}

/**
 * Returns what is to be done to the connections of a file. Throws AppError `conflict` for one that is of another app or kind
 * on the server.
 */
export async function planConnections(
  { raw, resolved }: Declared,
  { connections }: State,
  { client, path, differing }: Tools,
): Promise<PlannedConnections> {
  const planned: PlannedConnections = { changes: [], consents: [] };
  for (const [key, wanted] of Object.entries(resolved.connections ?? {})) {
    const { app, fields, events } = wanted;
    const name = fullName(resolved.project, key);
    const shown = raw.connections?.[key] ?? wanted;
    const current = connections.get(key);
    if (current) checkStays(`${path}: connections.${key}`, wanted, current);
    if (fields === undefined && (!current || current.health === "broken")) {
      planned.consents.push(
        current
          ? `headwater connection reconnect ${current.id}`
          : `headwater connection connect ${app} --name ${name}`,
      );
    }
    if (fields === undefined && !current) continue;
    const named = await compareNamed({
      field: "fields",
      wanted: Object.keys(fields ?? {}),
      current: fields ? (current?.field_names ?? []) : [],
      differs: async () => (await differing(current?.id ?? "", { fields })).length > 0,
    });
    const changed = [
      ...(current ? [] : [{ field: "app", to: shown.app }]),
      ...named,
      ...fieldChanges([{ field: "events", current: current?.events, wanted: events, raw: shown.events }]),
    ];
    if (current && changed.length === 0) continue;
    const apply: Change["apply"] = async ids => {
      if (current) {
        // Fields that are sent make it count as working, so they are not sent without need.
        const sent = named.length > 0 && fields ? { fields } : {};
        await client.connections.update(current.id, { ...sent, events: events ?? null });
      } else {
        const body = { app, name, fields: fields ?? {}, ...(events && { events }) };
        ids.connections.set(key, (await client.connections.create(body)).id);
      }
    };
    const action = current ? "update" : "create";
    planned.changes.push({ action, kind: "connection", name, fields: changed, apply });
  }
  return planned;
}

function checkStays(
  at: string,
  { app, fields }: DeclaredConnection,
  { id, app: present, kind }: Schemas["Connection"],
): void {
  const stays = "and stays one: delete it first, or choose another name";
  if (app !== present)
    throw new AppError("conflict", `${at}.app: ${id} of that name is one of ${present}, ${stays}`);
  if ((fields !== undefined) !== (kind === "keys")) {
    throw new AppError("conflict", `${at}.fields: ${id} of that name is of kind ${kind}, ${stays}`);
  }
}

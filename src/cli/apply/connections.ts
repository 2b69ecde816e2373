import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { compareNamed, fieldChanges } from "./compare.ts";
import type { Kinds } from "./kind.ts";
import type { DeclaredConnection } from "./schema.ts";

/** Connections of a file. Planning throws AppError `conflict` for one that is of another app or kind on the server. */
export const connections: Kinds["connections"] = {
  word: "connection",
  async plan({ at, name, wanted, shown, current }, { client, path, differing, onConsent }) {
    const { app, fields, events } = wanted;
    if (current) checkStays(`${path}: ${at}`, wanted, current);
    if (fields === undefined && (!current || current.health === "broken")) {
      onConsent(
        current
          ? `headwater connection reconnect ${current.id}`
          : `headwater connection connect ${app} --name ${name}`,
      );
    }
    if (fields === undefined && !current) return null;
    const named = await compareNamed({
      field: "fields",
      wanted: Object.keys(fields ?? {}),
      current: fields ? (current?.field_names ?? []) : [],
      differs: async () => (await differing(current?.id ?? "", { fields })).length > 0,
    });
    return {
      fields: [
        ...(current ? [] : [{ field: "app", to: shown.app }]),
        ...named,
        ...fieldChanges([{ field: "events", current: current?.events, wanted: events, raw: shown.events }]),
      ],
      apply: () => {
        if (!current)
          return client.connections.create({ app, name, fields: fields ?? {}, ...(events && { events }) });
        // Fields that are sent make it count as working, so they are not sent without need.
        const sent = named.length > 0 && fields ? { fields } : {};
        return client.connections.update(current.id, { ...sent, events: events ?? null });
      },
    };
  },
  remove: (client, id) => client.connections.delete(id),
};

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

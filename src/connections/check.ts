import type { ClientSession } from "mongoose";
import { AppError, type FieldError, invalidFields } from "../lib/errors.ts";
import { Connections } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { connectedProps, type StoredProps } from "../props/configure.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";

/**
 * Throws `invalid` that names each `app` prop whose connection is not one of the account, or is one of another app: its
 * credentials would go to a stranger. An absent connection and another account's are the same (docs/design.md#guarantee-6).
 */
export async function checkConnections(
  platform: Stores,
  ownerId: string,
  props: DescribedProp[],
  values: StoredProps,
): Promise<void> {
  const connected = connectedProps(props, values);
  if (connected.length === 0) return;
  const ids = connected.map(({ connectionId }) => connectionId);
  const found = await Connections(platform.mongo)
    .find({ _id: { $in: ids }, owner_id: ownerId }, { app: 1 })
    .lean();
  const apps = new Map(found.map(({ _id, app }) => [_id, app]));
  const fields = connected.flatMap(({ prop, connectionId }): FieldError[] => {
    const message = faultOf(prop, connectionId, apps.get(connectionId));
    const path = `configured_props.${prop.name}.authProvisionId`;
    return message === null ? [] : [{ in: "body", path, message }];
  });
  if (fields.length > 0) throw invalidFields(fields);
}

function faultOf(prop: DescribedProp, id: string, app: string | undefined): string | null {
  if (app === undefined) return `the account has no connection ${id}`;
  if (prop.app === undefined || prop.app === app) return null;
  return `${id} is a connection of the app ${app}, and the prop needs one of ${prop.app}`;
}

/**
 * Marks connections as used, so that a deletion of one at the same moment conflicts with `session`. Throws `conflict` if
 * one has been deleted.
 */
export async function markConnectionsUsed(
  platform: Stores,
  ids: string[],
  session: ClientSession,
): Promise<void> {
  if (ids.length === 0) return;
  const { matchedCount } = await Connections(platform.mongo).updateMany(
    { _id: { $in: ids } },
    { $set: { used_at_ms: platform.clock() } },
    { session },
  );
  if (matchedCount < new Set(ids).size) {
    throw new AppError("conflict", "a connection was deleted by another request");
  }
}

import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import {
  changedDelivery,
  compareDelivery,
  compareNamed,
  type FieldChange,
  fieldChanges,
  newDelivery,
} from "./compare.ts";
import {
  type DeclaredConnection,
  type DeclaredDestination,
  type DeclaredKind,
  hasReference,
  KIND_NAMES,
  KINDS,
  settingsAsStored,
} from "./schema.ts";
import type { Kinds } from "./state.ts";
import { compareVerify } from "./verification.ts";

type Settings = Record<string, unknown>;

/** Webhooks of a file. */
export const webhooks: Kinds["webhooks"] = {
  word: "webhook",
  async plan({ name, wanted, shown, current }, { client, differing, onKey }) {
    const { url, headers, format = "json" } = wanted;
    const fields = fieldChanges([
      { field: "url", current: current?.url, wanted: url, raw: shown.url },
      ...compareDelivery(wanted, shown, current),
      ...(current || format !== "json"
        ? [{ field: "format", current: current && (current.format ?? "json"), wanted: format, raw: format }]
        : []),
    ]).concat(
      await compareNamed({
        field: "headers",
        wanted: Object.keys(headers ?? {}).map(header => header.toLowerCase()),
        current: current?.header_names ?? [],
        differs: async () => (await differing(current?.id ?? "", { headers })).length > 0,
      }),
    );
    const apply = async () => {
      if (current) {
        const body = { url, ...changedDelivery(wanted), format, headers: headers ?? null };
        return client.webhooks.update(current.id, body);
      }
      const body = { name, url, ...newDelivery(wanted), format, ...(headers !== undefined && { headers }) };
      const created = await client.webhooks.create(body);
      onKey(name, created.signing_key);
      return created;
    };
    return { fields, apply };
  },
  disable: (client, id) => client.webhooks.update(id, { active: false }),
  remove: (client, id) => client.webhooks.delete(id),
};

/**
 * Destinations of a file, without actions. Planning throws AppError `invalid` for wrong settings, and `conflict` for a
 * destination that is of another kind on the server.
 */
export const destinations: Kinds["destinations"] = {
  word: "destination",
  async plan({ at, name, wanted, shown, current }, { client, path, differing }) {
    const kind = kindOf(wanted);
    if (current && current.kind !== kind) throw ofAnotherKind(`${path}: ${at}.${kind}`, current);
    const settings = wanted[kind] ?? {};
    const stored = await settingsAsStored(kind, settings).catch((error: Error) => {
      throw new AppError("invalid", `${path}: ${at}.${error.message}`, { cause: error });
    });
    const differ = current ? await differing(current.id, stored.secrets) : [];
    const compared: Compared = {
      ...{ kind, wanted: stored.shown, raw: shown[kind] ?? {}, differing: differ },
      current: current?.[kind] as Settings | undefined,
    };
    return {
      fields: [...fieldChanges(compareDelivery(wanted, shown, current)), ...settingChanges(compared)],
      apply: () => {
        if (!current) return client.destinations.create({ name, ...newDelivery(wanted), [kind]: settings });
        const body = { ...changedDelivery(wanted), [kind]: { ...leftOut(kind, settings), ...settings } };
        return client.destinations.update(current.id, body);
      },
    };
  },
  disable: (client, id) => client.destinations.update(id, { active: false }),
  remove: (client, id) => client.destinations.delete(id),
};

/** The file has exactly one (read-file.ts). */
const kindOf = (declared: DeclaredDestination): DeclaredKind =>
  KIND_NAMES.find(kind => declared[kind] !== undefined) ?? "redis_stream";

function ofAnotherKind(at: string, { id, kind }: Schemas["Destination"]): AppError {
  const stays = "stays one: delete it first, or choose another name";
  return new AppError("conflict", `${at}: ${id} of that name is a ${kind} and ${stays}`);
}

/** What is not declared gets the server's default, or is removed. */
const leftOut = (kind: DeclaredKind, settings: Settings): Settings =>
  Object.fromEntries(
    Object.keys(KINDS[kind].given.properties)
      .filter(setting => settings[setting] === undefined && !KINDS[kind].given.required?.includes(setting))
      .map(setting => [setting, null]),
  );

interface Compared {
  kind: DeclaredKind;
  /** As the server would show them. */
  wanted: Settings;
  raw: Settings;
  current: Settings | undefined;
  /** Secrets that the server has other values for, or none. */
  differing: readonly string[];
}

function settingChanges({ kind, wanted, raw, current, differing }: Compared): FieldChange[] {
  const shown = Object.keys(wanted).filter(setting => !setting.startsWith("has_"));
  const compared = shown.map(setting => ({
    field: `${kind}.${setting}`,
    current: current?.[setting],
    wanted: wanted[setting],
    raw: writtenOf(raw, setting, wanted[setting]),
  }));
  const secrets = KINDS[kind].secrets.flatMap((secret): FieldChange[] => {
    const field = `${kind}.${secret}`;
    const isSet = (settings: Settings | undefined) =>
      settings !== undefined && settings[`has_${secret}`] !== false;
    const isWanted = isSet(wanted);
    if (isWanted === isSet(current) && !differing.includes(secret)) return [];
    return [{ field, to: isWanted ? writtenOf(raw, secret, "a secret") : null }];
  });
  return [...fieldChanges(compared), ...secrets];
}

/** A setting as the file has it if that is of the environment, else its value. User name and password may be in the url. */
function writtenOf(raw: Settings, setting: string, value: unknown): unknown {
  if (value === null) return null;
  const written = raw[setting] ?? (["username", "password"].includes(setting) ? raw.url : undefined);
  return hasReference(written) ? written : value;
}

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
    const verify = await compareVerify(wanted.verify, shown.verify, {
      current: current?.verify ?? null,
      differing: secrets => differing(current?.id ?? "", { verify: secrets }),
    });
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
        ...verify,
      ],
      apply: () => {
        if (!current) {
          const said = { ...(events && { events }), ...(wanted.verify && { verify: wanted.verify }) };
          return client.connections.create({ app, name, fields: fields ?? {}, ...said });
        }
        // Fields that are sent make it count as working, so they are not sent without need.
        const sent = {
          ...(named.length > 0 && fields && { fields }),
          ...(verify.length > 0 && wanted.verify !== undefined && { verify: wanted.verify }),
        };
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

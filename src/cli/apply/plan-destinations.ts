import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { type Change, type FieldChange, fieldChanges } from "./change.ts";
import { changedDelivery, compareDelivery, newDelivery } from "./delivery-fields.ts";
import { type DeclaredKind, KIND_NAMES, KINDS, settingsAsStored } from "./destination-kinds.ts";
import type { DifferingSecrets } from "./differing-secrets.ts";
import type { Declared } from "./read-file.ts";
import { hasReference } from "./references.ts";
import type { DeclaredDestination } from "./schema.ts";
import { fullName, type State } from "./state.ts";

type Settings = Record<string, unknown>;

interface Tools {
  client: Headwater;
  /** The file, for messages. */
  path: string;
  differing: DifferingSecrets;
}

/**
 * Returns what is to be done to the destinations of a file. Throws AppError `invalid` for wrong settings, and `conflict` for
 * a destination that is of another kind on the server.
 */
export async function planDestinations(
  { raw, resolved }: Declared,
  { destinations }: State,
  tools: Tools,
): Promise<Change[]> {
  const { client } = tools;
  const changes: Change[] = [];
  for (const [key, wanted] of Object.entries(resolved.destinations ?? {})) {
    const name = fullName(resolved.project, key);
    const shown = raw.destinations?.[key] ?? wanted;
    const kind = kindOf(wanted);
    const current = destinations.get(key);
    if (current && current.kind !== kind) throw ofAnotherKind(tools.path, key, kind, current);
    const settings = wanted[kind] ?? {};
    const stored = await settingsAsStored(kind, settings).catch((error: Error) => {
      throw new AppError("invalid", `${tools.path}: destinations.${key}.${error.message}`, { cause: error });
    });
    const differing = current ? await tools.differing(current.id, stored.secrets) : [];
    const fields = [
      ...fieldChanges(compareDelivery(wanted, shown, current)),
      ...settingChanges({
        ...{ kind, wanted: stored.shown, raw: shown[kind] ?? {}, differing },
        current: current?.[kind] as Settings | undefined,
      }),
    ];
    if (!current) {
      const apply: Change["apply"] = async ids => {
        const { id } = await client.destinations.create({ name, ...newDelivery(wanted), [kind]: settings });
        ids.destinations.set(key, id);
        if (wanted.active === false) await client.destinations.update(id, { active: false });
      };
      changes.push({ action: "create", kind: "destination", name, fields, apply });
    } else if (fields.length > 0) {
      const apply = async () => {
        const body = { ...changedDelivery(wanted), [kind]: { ...leftOut(kind, settings), ...settings } };
        await client.destinations.update(current.id, body);
      };
      changes.push({ action: "update", kind: "destination", name, fields, apply });
    }
  }
  return changes;
}

/** The file has exactly one (read-file.ts). */
const kindOf = (declared: DeclaredDestination): DeclaredKind =>
  KIND_NAMES.find(kind => declared[kind] !== undefined) ?? "redis_stream";

function ofAnotherKind(
  path: string,
  key: string,
  kind: DeclaredKind,
  { id, kind: present }: Schemas["Destination"],
): AppError {
  const message = `${path}: destinations.${key}.${kind}: ${id} of that name is a ${present} and stays one: delete it first, or choose another name`;
  return new AppError("conflict", message);
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

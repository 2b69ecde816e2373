import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { readTextFile } from "../input.ts";
import { type Change, fieldChanges } from "./change.ts";
import { emitterId, type Ids, listenerId, madeId } from "./ids.ts";
import type { Declared } from "./read-file.ts";
import { type DeclaredSubscription, NAMED } from "./schema.ts";
import { fullName, type State } from "./state.ts";

interface Tools {
  client: Headwater;
  /** The file: code of functions is named relative to it. */
  path: string;
}

/** Returns what is to be done to the subscriptions of a file. Throws AppError `invalid` for code that can't be read. */
export async function planSubscriptions(
  { raw, resolved }: Declared,
  state: State,
  ids: Ids,
  { client, path }: Tools,
): Promise<Change[]> {
  const isNamed = (end: string) =>
    NAMED.some(part => Object.hasOwn(resolved[part] ?? {}, end) || ids[part].has(end));
  const nameOf = (end: string) => (isNamed(end) ? fullName(resolved.project, end) : end);
  const changes: Change[] = [];
  for (const [at, wanted] of (resolved.subscriptions ?? []).entries()) {
    const shown = raw.subscriptions?.[at] ?? wanted;
    const code = await readCode(wanted, path, at);
    const channel = wanted.channel ? ` [${wanted.channel}]` : "";
    const current = findCurrent(wanted, state, ids);
    const [filter] = fieldChanges([
      { field: "filter", current: filterOf(current), wanted: filterOf(wanted), raw: shown.filter },
    ]);
    const isSameCode = current?.function_hash === (code === undefined ? undefined : hashOf(code));
    if (current && !filter && isSameCode) continue;
    changes.push({
      action: current ? "update" : "create",
      kind: "subscription",
      name: `${nameOf(wanted.from)} → ${nameOf(wanted.to)}${channel}`,
      fields: [
        ...(filter ? [filter] : []),
        ...(isSameCode ? [] : [{ field: "function", to: shown.function ?? null }]),
      ],
      apply: async made => {
        const changed = isSameCode ? {} : { function: code ?? null };
        if (current) {
          await client.subscriptions.update(current.id, { filter: wanted.filter ?? null, ...changed });
          return;
        }
        await client.subscriptions.create({
          emitter_id: madeId(emitterId(wanted.from, made)),
          listener_id: madeId(listenerId(wanted.to, made)),
          event_name: wanted.channel ?? "",
          ...(wanted.filter && { filter: wanted.filter }),
          ...changed,
        });
      },
    });
  }
  return changes;
}

async function readCode(
  { function: file }: DeclaredSubscription,
  path: string,
  at: number,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return await readTextFile(resolve(dirname(path), file)).catch((error: Error) => {
    throw new AppError("invalid", `${path}: subscriptions.${at}.function: ${error.message}`, {
      cause: error,
    });
  });
}

/** As the server shows it (docs/functions.md). */
const hashOf = (code: string) => createHash("sha256").update(code).digest("hex");

/** One without conditions is none. */
function filterOf(of: { filter?: unknown } | undefined): unknown {
  const filter = of?.filter;
  return filter && Object.keys(filter).length > 0 ? filter : undefined;
}

const findCurrent = (
  { from, to, channel = "" }: DeclaredSubscription,
  { subscriptions }: State,
  ids: Ids,
): Schemas["Subscription"] | undefined =>
  subscriptions.find(
    one =>
      one.emitter_id === emitterId(from, ids) &&
      one.listener_id === listenerId(to, ids) &&
      one.event_name === channel,
  );

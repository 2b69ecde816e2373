import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { readTextFile } from "../input.ts";
import { type Change, deletion, fieldChanges } from "./compare.ts";
import type { Declared } from "./read-file.ts";
import { type Declaration, type DeclaredSubscription, NAMED } from "./schema.ts";
import {
  emitterId,
  fullName,
  type Ids,
  listenerId,
  madeId,
  namesById,
  type State,
  type Tools,
} from "./state.ts";

type Subscription = Schemas["Subscription"];

/** Returns what is to be done to the subscriptions of a file. Throws AppError `invalid` for code that can't be read. */
export async function planSubscriptions(
  { raw, resolved }: Declared,
  state: State,
  { client, path, ids }: Tools,
): Promise<Change[]> {
  const isNamed = (end: string) =>
    NAMED.some(part => Object.hasOwn(resolved[part] ?? {}, end) || ids[part].has(end));
  const nameOf = (end: string) => (isNamed(end) ? fullName(resolved.project, end) : end);
  const changes: Change[] = [];
  for (const [at, wanted] of (resolved.subscriptions ?? []).entries()) {
    const shown = raw.subscriptions?.[at] ?? wanted;
    const code = await readCode(wanted, path, at);
    const channel = wanted.channel ? ` [${wanted.channel}]` : "";
    const current = state.subscriptions.find(one => isSame(wanted, one, ids));
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
      apply: async () => {
        const changed = isSameCode ? {} : { function: code ?? null };
        if (current) {
          await client.subscriptions.update(current.id, { filter: wanted.filter ?? null, ...changed });
          return;
        }
        await client.subscriptions.create({
          emitter_id: madeId(emitterId(wanted.from, ids)),
          listener_id: madeId(listenerId(wanted.to, ids)),
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

const isSame = (
  { from, to, channel = "" }: DeclaredSubscription,
  { emitter_id, listener_id, event_name }: Subscription,
  ids: Ids,
): boolean =>
  emitterId(from, ids) === emitter_id && listenerId(to, ids) === listener_id && channel === event_name;

/**
 * Returns the deletions of subscriptions between two things of the project that both stay, as far as the file does not have
 * them. Others end with one of their ends, or were not made by `apply`.
 */
export function endedSubscriptions(
  declaration: Declaration,
  state: State,
  { client, ids }: Pick<Tools, "client" | "ids">,
): Change[] {
  const { staying } = namesById(state, declaration);
  const isDeclared = (one: Subscription) =>
    (declaration.subscriptions ?? []).some(wanted => isSame(wanted, one, ids));
  return state.subscriptions
    .filter(one => staying.has(one.emitter_id) && staying.has(one.listener_id) && !isDeclared(one))
    .map(({ id, emitter_id, listener_id }) =>
      deletion("subscription", `${staying.get(emitter_id)} → ${staying.get(listener_id)}`, () =>
        client.subscriptions.delete(id),
      ),
    );
}

/** Returns the subscriptions of what the project has on the server and not in its file, as of a thing that was renamed in it. */
export function subscriptionsOfLeft(declaration: Declaration, state: State): string[] {
  const { all, staying } = namesById(state, declaration);
  const isLeft = (id: string) => all.has(id) && !staying.has(id);
  const nameOf = (id: string) => all.get(id) ?? id;
  return state.subscriptions
    .filter(({ emitter_id, listener_id }) => isLeft(emitter_id) || isLeft(listener_id))
    .map(({ emitter_id, listener_id }) => `${nameOf(emitter_id)} → ${nameOf(listener_id)}`);
}

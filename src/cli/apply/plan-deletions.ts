import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Change, Ids } from "./change.ts";
import type { Declaration, DeclaredSubscription } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/**
 * Returns the deletions of what the project has on the server and not in its file: webhooks, sources, and subscriptions
 * between two things of the project that both stay. Others were not made by `apply`.
 */
export function planDeletions(client: Headwater, declaration: Declaration, state: State, ids: Ids): Change[] {
  const { project, sources = {}, webhooks = {}, subscriptions = [] } = declaration;
  const left = <Row>(found: Map<string, Row>, declared: object) =>
    [...found].filter(([name]) => !Object.hasOwn(declared, name));
  const remove = (kind: Change["kind"], name: string, apply: () => Promise<unknown>): Change => ({
    action: "delete",
    kind,
    name,
    fields: [],
    apply: async () => void (await apply()),
  });
  const staying = stayingNames(state, declaration);
  return [
    ...state.subscriptions
      .filter(one => staying.has(one.emitter_id) && staying.has(one.listener_id))
      .filter(one => !subscriptions.some(wanted => isSame(wanted, one, ids)))
      .map(one =>
        remove("subscription", `${staying.get(one.emitter_id)} → ${staying.get(one.listener_id)}`, () =>
          client.subscriptions.delete(one.id),
        ),
      ),
    ...left(state.sources, sources).map(([name, { id }]) =>
      remove("source", fullName(project, name), () => client.sources.delete(id)),
    ),
    ...left(state.webhooks, webhooks).map(([name, { id }]) =>
      remove("webhook", fullName(project, name), () => client.webhooks.delete(id)),
    ),
  ];
}

/** The names of the project's things that its file declares, by id: a subscription ends with either of its ends. */
function stayingNames(
  state: State,
  { project, sources = {}, webhooks = {} }: Declaration,
): Map<string, string> {
  const named = (found: Map<string, { id: string }>, declared: object) =>
    [...found]
      .filter(([name]) => Object.hasOwn(declared, name))
      .map(([name, { id }]) => [id, fullName(project, name)] as const);
  return new Map([...named(state.sources, sources), ...named(state.webhooks, webhooks)]);
}

const isSame = (
  { from, to, channel = "" }: DeclaredSubscription,
  one: { emitter_id: string; listener_id: string; event_name: string },
  ids: Ids,
): boolean =>
  (ids.sources.get(from) ?? from) === one.emitter_id &&
  (ids.webhooks.get(to) ?? ids.sources.get(to) ?? to) === one.listener_id &&
  channel === one.event_name;

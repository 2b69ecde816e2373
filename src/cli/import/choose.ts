import type { Account } from "./shown.ts";

type Lists = Pick<Account, "sources" | "webhooks" | "destinations" | "subscriptions" | "workflows">;

/** Returns what has a text in its name, address or id, with the subscriptions between these things; everything for an empty text. */
export function onlyWith(
  text: string,
  { sources, webhooks, destinations, subscriptions, workflows }: Lists,
): Lists {
  const has = (...given: (string | null | undefined)[]) =>
    given.some(one => one?.toLowerCase().includes(text.toLowerCase()));
  const chosen = {
    sources: sources.filter(({ id, name, name_slug }) => has(id, name, name_slug)),
    webhooks: webhooks?.filter(({ id, name, url }) => has(id, name, url)) ?? null,
    destinations: destinations?.filter(({ id, name, url }) => has(id, name, url)) ?? null,
    workflows: workflows?.filter(({ id, name }) => has(id, name)) ?? null,
  };
  const ids = new Set(Object.values(chosen).flatMap(things => (things ?? []).map(({ id }) => id)));
  // A pattern means all that there are; workflows that are not listed have no name.
  const isChosen = (id: string) =>
    ids.has(id) || /^(dc|p)_\*$/.test(id) || (workflows === null && id.startsWith("p_"));
  return {
    ...chosen,
    subscriptions:
      text === ""
        ? subscriptions
        : subscriptions.filter(one => isChosen(one.emitter_id) && isChosen(one.listener_id)),
  };
}

import { shownOrg } from "../accounts/access.ts";
import { presentProps as describeProps, ownWords } from "../components/present.ts";
import { Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import { presentProps, secretsSet } from "../props/configure.ts";
import { readDrops } from "../store/events/drops.ts";
import { presentLastTimes } from "../store/last-times.ts";
import { revisionOf } from "../store/revisions.ts";
import { factsOf, propsOfSource } from "./source.ts";
import { nextTickMs } from "./timer-scheduler.ts";
import { presentVerify } from "./verify.ts";

/** Returns sources as API responses show them, without secrets (docs/rest-api.md#source). */
export async function presentSources(platform: Stores, sources: Source[]) {
  const components = await Components(platform.mongo)
    .find({ _id: { $in: sources.map(source => source.component_id) } }, { description: 1, adds_slash: 1 })
    .lean();
  const byId = new Map(components.map(component => [component._id, component]));
  return sources.map(source => {
    const component = byId.get(source.component_id);
    const { props, dynamic } = propsOfSource(platform, component, source);
    const values = JSON.parse(platform.secrets.open(source.configured_props));
    return {
      id: source._id,
      user_id: source.user_id,
      ...shownOrg(source.owner_id),
      component_id: source.component_id,
      ...ownWords(component?.description),
      configured_props: presentProps(props, values, factsOf(platform, source, component)),
      dynamic_props_id: dynamic?.id ?? null,
      verify: presentVerify(platform, source),
      active: source.active,
      created_at: source.created_at,
      updated_at: source.updated_at,
      name: source.name,
      name_slug: source.name_slug,
      ...presentLastTimes(source),
      revision: revisionOf(source),
    };
  });
}

/**
 * Returns a source as a viewer of its organization sees it: without the addresses at which it receives requests, since who knows
 * one can send events.
 */
export function withoutAddresses<Shown extends { configured_props: object }>(shown: Shown): Shown {
  const hide = (value: unknown) => {
    if (typeof value !== "object" || value === null || !("endpoint_url" in value)) return value;
    const { endpoint_url: _, ...rest } = value;
    return rest;
  };
  const props = Object.entries(shown.configured_props).map(([name, value]) => [name, hide(value)]);
  return { ...shown, configured_props: Object.fromEntries(props) };
}

export async function presentSource(platform: Stores, source: Source) {
  const [presented] = await presentSources(platform, [source]);
  if (!presented) throw new Error("presentSources must return one source for one source");
  return presented;
}

/** Returns a source as a request for it alone shows it: with its drops, its next tick, and which secrets are set. */
export async function presentDetail(platform: Stores & Queued, source: Source) {
  const [presented, component, dropped, next] = await Promise.all([
    presentSource(platform, source),
    Components(platform.mongo).findById(source.component_id, { description: 1 }).lean(),
    readDrops(platform, source._id),
    nextTickMs(platform, source),
  ]);
  const { props, dynamic } = propsOfSource(platform, component, source);
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  return {
    ...presented,
    dropped,
    dynamic_props: describeProps({ props: dynamic?.props ?? [] }),
    secrets_set: secretsSet(props, values),
    deactivating: source.begun?.stage === "switched-off",
    next_tick_at_ms: next,
  };
}

import type { QueryFilter } from "mongoose";
import { MAX_NAMED, meantBy } from "../accounts/access.ts";
import { appEndpointUrl } from "../connections/app-events.ts";
import { INGRESS_PREFIX, ingressBase } from "../lib/hosts.ts";
import { isId, newToken } from "../lib/ids.ts";
import type { Component } from "../models/component.ts";
import { BEGUN, SOURCE_TEXTS, type Source, Sources } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { type DynamicProps, withAddedProps } from "../props/dynamic-props.ts";
import type { SourceFacts } from "../props/kinds.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { orderOf } from "../store/order.ts";
import { countCacheOf, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { containing } from "../store/text-filter.ts";
import type { SourceFilter } from "./schema.ts";

/**
 * Returns the source with this id or name slug if one of these accounts owns it; otherwise null. Each account has its
 * own slugs: a source of the first account comes before those of the others. Throws `conflict` if several of the others
 * have a source with the slug (docs/rest-api.md#sources).
 */
export const findSource = (platform: Stores, idOrSlug: string, owners: string[]): Promise<Source | null> =>
  find(platform, idOrSlug, owners, true);

/**
 * Like `findSource`, for a request that changes the source: throws `conflict` also if the first account is only one of
 * several that have a source with the slug.
 */
export const findSourceToChange = (
  platform: Stores,
  idOrSlug: string,
  owners: string[],
): Promise<Source | null> => find(platform, idOrSlug, owners, false);

async function find(platform: Stores, idOrSlug: string, owners: string[], reads: boolean) {
  const { mongo } = platform;
  if (isId("dc", idOrSlug)) {
    return await Sources(mongo)
      .findOne({ _id: idOrSlug, owner_id: { $in: owners }, state: "ready" })
      .lean();
  }
  const [account = "", ...others] = owners;
  const named = { name_slug: idOrSlug, state: "ready" } as const;
  const [own, ofOthers] = await Promise.all([
    Sources(mongo)
      .findOne({ ...named, owner_id: account })
      .lean(),
    others.length === 0
      ? []
      : Sources(mongo)
          .find({ ...named, owner_id: { $in: others } })
          .limit(MAX_NAMED)
          .lean(),
  ]);
  return meantBy(`the slug ${idOrSlug}`, own ? [own, ...ofOthers] : ofOthers, { account, reads });
}

/** The last part of an endpoint's address, or all of the address. */
const ENDPOINT = /(?:^|\/)([0-9A-Za-z]{32})\/?$/;

/** Returns the endpoint, as sources have it, that a text is the address of; undefined for any other text. */
export const endpointIn = (text: string): string | undefined => ENDPOINT.exec(text)?.[1];

/** Returns a filter for the sources with a text, or with the endpoint that it is the address of. */
function withText(text: string): QueryFilter<Source> {
  const endpoint = endpointIn(text);
  const found = containing<Source>(text, SOURCE_TEXTS);
  return endpoint === undefined ? found : { $or: [found, { endpoint }] };
}

/** Returns a page of an account's sources, newest first unless they are sorted. */
export function listSources(
  platform: Stores,
  owner: string,
  { q, active, sort }: SourceFilter,
  page: PageRequest,
): Promise<Page<Source>> {
  const sources: QueryFilter<Source> = {
    owner_id: owner,
    state: "ready",
    ...(active !== undefined && { active }),
    ...(q !== undefined && withText(q)),
  };
  return pageOf(Sources(platform.mongo), sources, page, {
    countCache: countCacheOf(platform, owner, "sources", { q, active }),
    order: orderOf(owner, sort),
  });
}

const accountsOf = ({ owner_id }: Source) => [owner_id];
const bytesOf = ({ configured_props, dynamic_props, verify }: Source) =>
  configured_props.length + (dynamic_props?.length ?? 0) + (verify?.length ?? 0);

/**
 * Returns a source as it is now, whatever its state; null if there is none. From the routing cache, whose version is read
 * for each call: what a change of the source replaced before this call is never returned
 * (docs/decisions/0013-routing-cache.md).
 */
export async function currentSource(platform: Stores, sourceId: string): Promise<Source | null> {
  await platform.routing.refresh();
  const find = async () =>
    byKey(await Sources(platform.mongo).find({ _id: sourceId }).lean<Source[]>(), "_id");
  const found = await platform.routing.lookUp("source", [sourceId], find, accountsOf, bytesOf);
  return found.get(sourceId) ?? null;
}

/**
 * Returns the active sources of these endpoints, by endpoint, as `currentSource` does. One whose hooks are being called is
 * among them, under the endpoint that they register too: a service may send to it before it responds to the hook.
 */
export async function currentSourcesOf(platform: Stores, endpoints: string[]): Promise<Map<string, Source>> {
  await platform.routing.refresh();
  const find = async (missing: string[]) => {
    const found = await Sources(platform.mongo)
      .find({ endpoint: { $in: missing }, active: true, state: { $in: ["deploying", "ready"] } })
      .lean<Source[]>();
    const byEndpoint = byKey(found, "endpoint");
    const others = missing.filter(endpoint => !byEndpoint.has(endpoint));
    if (others.length === 0) return byEndpoint;
    const changing = await changingTo(platform, others);
    for (const source of changing) byEndpoint.set(source.begun?.endpoint ?? "", source);
    return byEndpoint;
  };
  return await platform.routing.lookUp("endpoint", endpoints, find, accountsOf, bytesOf);
}

/** The index of begun changes has few entries: no other names their endpoints. */
const changingTo = ({ mongo }: Stores, endpoints: string[]): Promise<Source[]> =>
  Sources(mongo)
    .find({ "begun.run_id": { $type: "string" }, "begun.endpoint": { $in: endpoints }, state: "ready" })
    .hint(BEGUN)
    .lean<Source[]>();

/** True while hooks of a source are being called: its runs wait for them, and nothing that they need may wait for a run. */
export const isBeingSetUp = ({ state, begun }: Pick<Source, "state" | "begun">): boolean =>
  state === "deploying" || Boolean(begun);

const byKey = (sources: Source[], key: "_id" | "endpoint"): Map<string, Source> =>
  new Map(sources.map(source => [source[key] ?? "", source]));

/** Returns the props that `additionalProps` made for a source; null if its component's own are all. */
export const dynamicPropsOf = (
  { secrets }: Stores,
  { dynamic_props }: Pick<Source, "dynamic_props">,
): DynamicProps | null => (dynamic_props ? JSON.parse(secrets.open(dynamic_props)) : null);

/** What a source has props for. */
export interface PropsOfSource {
  /** The component's own, with those that `additionalProps` made. */
  props: DescribedProp[];
  dynamic: DynamicProps | null;
}

/** Returns a source's props; those of a component that is absent are none. */
export function propsOfSource(
  platform: Stores,
  component: Pick<Component, "description"> | null | undefined,
  source: Pick<Source, "dynamic_props">,
): PropsOfSource {
  const dynamic = dynamicPropsOf(platform, source);
  if (!component) return { props: [], dynamic };
  const own = component.description.props;
  return { props: dynamic ? withAddedProps(own, dynamic.props) : own, dynamic };
}

/** Returns the public URL of a source's HTTP interface; null if it has none. */
export function endpointUrl(platform: Stores, endpoint: string | null): string | null {
  return endpoint === null ? null : `${ingressBase(platform)}${INGRESS_PREFIX}/${endpoint}`;
}

/** Returns what the props of a source's component depend on. */
export function sourceFacts(
  platform: Stores,
  endpoint: string | null,
  component: Pick<Component, "adds_slash"> | undefined,
): SourceFacts {
  return slashed(endpointUrl(platform, endpoint), component?.adds_slash ?? false);
}

/** Returns what a source's props show of it besides their values; `component` is undefined if it belongs to somebody else. */
export const factsOf = (
  platform: Stores,
  { endpoint, app_events }: Pick<Source, "endpoint" | "app_events">,
  component: Pick<Component, "adds_slash"> | undefined,
): SourceFacts => ({
  ...sourceFacts(platform, endpoint, component),
  ...(app_events && {
    appEvents: {
      endpointUrl: appEndpointUrl(platform, app_events.connection_id, app_events.endpoint),
      names: app_events.names,
    },
  }),
});

/**
 * Returns the facts of a component that may add a slash to its endpoint's address, to compare it with what the sender signed: then
 * senders are to know it with that slash (docs/component-api.md#events-given-to-run).
 */
export const slashed = (endpointUrl: string | null, addsSlash: boolean): SourceFacts => ({
  endpointUrl,
  ...(endpointUrl !== null && addsSlash && { registeredUrl: `${endpointUrl}/` }),
});

/** Returns the slug with six random characters, for an account that already has a source with the slug itself. */
export function withRandomSuffix(slug: string): string {
  return `${slug}-${newToken().slice(0, 6).toLowerCase()}`;
}

import { isDeepStrictEqual } from "node:util";
import { checkCount } from "../accounts/limits.ts";
import { chooseDynamicProps } from "../components/configure/dynamic-props.ts";
import type { Deployer } from "../components/deployer.ts";
import { type ComponentInput, isReplaced, namesComponent, resolveComponent } from "../components/save.ts";
import { checkConnections } from "../connections/check.ts";
import { notFound } from "../lib/errors.ts";
import { newToken } from "../lib/ids.ts";
import { slugOf } from "../lib/slug.ts";
import { type Component, Components } from "../models/component.ts";
import { type Source, Sources, type StoredTimer } from "../models/source.ts";
import type { Calling, Stores } from "../platform.ts";
import {
  configureProps,
  connectedProps,
  hasHttpInterface,
  keptValues,
  type StoredProps,
  secretsRemoved,
  timerOf,
} from "../props/configure.ts";
import { withAddedProps } from "../props/dynamic-props.ts";
import { toStoredTimer } from "../props/timer.ts";
import type { Candidate } from "../queues/run-item.ts";
import type { VerifySettings } from "../verify/schema.ts";
import { appEventsOf } from "./listen-to-app.ts";
import { dynamicPropsOf, type PropsOfSource, propsOfSource, withRandomSuffix } from "./source.ts";
import { prepareVerify, verifyOf } from "./verify.ts";

/** The body of a request that creates or updates a source (docs/rest-api.md#sources). */
export interface SourceInput extends ComponentInput {
  name?: string;
  configured_props?: Record<string, unknown>;
  dynamic_props_id?: string;
  verify?: VerifySettings | null;
  active?: boolean;
  /** Of the code, if it is another one than before. */
  comment?: string;
}

/** Returns a slug of the name that no other source of the account has; `renamed` is the source itself, if it exists. */
async function findFreeSlug(
  platform: Calling,
  owner: string,
  name: string,
  renamed?: Source,
): Promise<string> {
  const slug = slugOf(name);
  const filter = { owner_id: owner, name_slug: slug, ...(renamed && { _id: { $ne: renamed._id } }) };
  const isTaken = await Sources(platform.mongo).exists(filter);
  return isTaken ? withRandomSuffix(slug) : slug;
}

interface Prepared {
  fields: Candidate;
  component: Component;
  isSameVersion: boolean;
  secretsRemoved: string[];
}

/**
 * Checks a request and returns the source's fields as they will be stored, with its component, which is saved if the
 * request contains its code or URL, and the names of the secrets that it loses with its component. `before` is the current
 * source if the request is an update; `isSameVersion` says that its code and its props stay as they are. Throws `invalid`
 * naming every invalid prop, and `not-found` if there is no such component. A component that the source has had already
 * (`isRestored`) counts as code that is sent again, if it is the account's own.
 */
export async function prepareSource(
  platform: Calling,
  deployer: Deployer,
  input: SourceInput,
  before?: Source,
  { isRestored = false }: { isRestored?: boolean } = {},
): Promise<Prepared> {
  const component =
    before && !namesComponent(input)
      ? await existingComponent(platform, before)
      : await resolveComponent(platform, deployer, input, "source");
  const isOwnCode = isRestored && component.owner_id === before?.owner_id;
  const opened = before && (await openSource(platform, before));
  const old = opened && {
    ...opened,
    isReplaced: !isOwnCode && isReplaced(input, component, opened.component),
  };
  const own = component.description.props;
  const configured = input.configured_props ?? {};
  const keepsComponent = before?.component_id === component._id;
  const keepsProps = keepsComponent && !input.configured_props && input.dynamic_props_id === undefined;
  const current = (keepsComponent && old?.dynamic) || null;
  const dynamic = keepsProps
    ? current
    : await chooseDynamicProps(platform, deployer.owner, component, {
        id: input.dynamic_props_id,
        configured,
        stored: old && (keepsComponent ? old.values : keptValues(old, own)),
        current,
      });
  const props = dynamic ? withAddedProps(own, dynamic.props) : own;
  const values = configureProps(props, configured, old && keptValues(old, props));
  await checkConnections(platform, deployer.owner, props, given(values, input.configured_props));
  const active = input.active ?? true;
  // One that an earlier release deployed, which hears of no event, can be disabled all the same.
  const keepsEvents = keepsProps && (before?.app_events || !active);
  const app_events = keepsEvents
    ? (before?.app_events ?? null)
    : await appEventsOf(platform, deployer.owner, component, {
        props,
        values,
        added: dynamic?.props,
        before,
      });
  const verify = prepareVerify({
    ...{ props, values, active, asked: input.verify },
    before: before ? verifyOf(platform, before) : null,
  });
  const name = input.name ?? before?.name ?? slugOf(component.name);
  const timer = timerOf(props, values);
  const fields: Candidate = {
    component_id: component._id,
    component_url: input.component_url ?? (before && !namesComponent(input) ? before.component_url : null),
    name,
    name_slug:
      name === before?.name ? before.name_slug : await findFreeSlug(platform, deployer.owner, name, before),
    configured_props: platform.secrets.seal(JSON.stringify(values)),
    dynamic_props: dynamic && platform.secrets.seal(JSON.stringify(dynamic)),
    connection_ids: [...new Set(connectedProps(props, values).map(({ connectionId }) => connectionId))],
    endpoint: hasHttpInterface(props) ? (before?.endpoint ?? newToken()) : null,
    verify: verify && platform.secrets.seal(JSON.stringify(verify)),
    app_events,
    timer: timer && toStoredTimer(timer),
    active,
  };
  if (isSubMinute(fields) && !(before && isSubMinute(before))) {
    await checkCount(platform, deployer.owner, "subMinuteTimers");
  }
  const isSameVersion =
    keepsComponent &&
    isDeepStrictEqual(values, old?.values) &&
    isDeepStrictEqual(dynamic, current) &&
    isDeepStrictEqual(app_events, before?.app_events ?? null);
  return {
    fields,
    component,
    isSameVersion,
    secretsRemoved: old ? secretsRemoved(old, values, configured) : [],
  };
}

/**
 * Returns the values that the request itself gives: a source whose connection was deleted can still be renamed or disabled.
 */
const given = (values: StoredProps, configured: Record<string, unknown> = {}): StoredProps =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(configured, name)));

/** True for an active source whose timer is due more often than once a minute, which a cron can't be. */
const isSubMinute = ({ active, timer }: { active: boolean; timer: unknown }): boolean => {
  const seconds = (timer as StoredTimer | null)?.interval_seconds ?? null;
  return active && seconds !== null && seconds < 60;
};

/**
 * Returns the source's component, whichever account owns it: a member may have given an organization's source a
 * component of their own, or the reverse.
 */
export async function existingComponent(platform: Stores, source: Source): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw notFound("component");
  return component;
}

/** What a source has before an update. */
interface Before extends PropsOfSource {
  component: Component;
  values: StoredProps;
}

async function openSource(platform: Calling, source: Source): Promise<Before> {
  const component = await existingComponent(platform, source);
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  return { ...propsOfSource(platform, component, source), component, values };
}

/** Returns what a source is configured with, for its form. Throws `not-found` if its component is gone. */
export const openConfigured = async (platform: Stores, source: Source) => ({
  ownerId: source.owner_id,
  component: await existingComponent(platform, source),
  values: JSON.parse(platform.secrets.open(source.configured_props)) as StoredProps,
  dynamic: dynamicPropsOf(platform, source),
});

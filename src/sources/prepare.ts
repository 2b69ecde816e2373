import { checkCount } from "../accounts/check-count.ts";
import { findComponent } from "../components/find.ts";
import { saveComponent } from "../components/save.ts";
import { checkConnections } from "../connections/check.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { newToken } from "../lib/ids.ts";
import { type Component, Components } from "../models/component.ts";
import { type Source, Sources, type StoredTimer } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import {
  configureProps,
  connectedProps,
  hasHttpInterface,
  type StoredProps,
  timerOf,
} from "../props/configure.ts";
import { isSecret } from "../props/kinds.ts";
import { toStoredTimer } from "../props/timer.ts";
import type { Candidate } from "../queues/run-item.ts";
import { slugOf, withRandomSuffix } from "./slug.ts";

export type PrepareDeps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "routing" | "clock" | "config" | "egress" | "sandboxes" | "secrets"
>;

/** The caller of a request that creates or updates a source. */
export interface Deployer {
  /** Account that owns the source. */
  owner: string;
  /** Accounts of the request; a `key` names their components first. */
  owners: string[];
  /** Every account that the user can read; the source may use a component of any of them. */
  readable: string[];
  userId: string;
}

/** The body of a request that creates or updates a source (docs/rest-api.md#sources). */
export interface SourceInput {
  component_id?: string;
  component_code?: string;
  component_url?: string;
  key?: string;
  name?: string;
  configured_props?: Record<string, unknown>;
  active?: boolean;
}

/** True if the request names a component in any of the four ways. */
function namesComponent(input: SourceInput): boolean {
  return [input.component_id, input.component_code, input.component_url, input.key].some(
    given => given !== undefined,
  );
}

/**
 * Finds or saves the component that a request names: by id, else by key, else by code, else by URL. An organization's
 * source may use every component that the deploying member can read (docs/rest-api.md#sources). Throws `invalid`,
 * `not-found`.
 */
async function resolveComponent(
  platform: PrepareDeps,
  deployer: Deployer,
  input: SourceInput,
): Promise<Component> {
  const named = input.component_id ?? input.key;
  if (named !== undefined) {
    const component = await findComponent(platform, named, deployer.owners, deployer.readable);
    if (!component) throw notFound("component");
    return component;
  }
  if (!namesComponent(input)) {
    throw new AppError("invalid", "one of component_id, component_code, component_url is required", {
      fields: ["component_id", "component_code", "component_url"].map(path => ({
        in: "body" as const,
        path,
        message: "one of these is required",
      })),
    });
  }
  return saveComponent(
    platform,
    { ownerId: deployer.owner, userId: deployer.userId },
    { code: input.component_code, url: input.component_url },
  );
}

/** Returns a slug of the name that no other source of the account has; `renamed` is the source itself, if it exists. */
async function findFreeSlug(
  platform: PrepareDeps,
  owner: string,
  name: string,
  renamed?: Source,
): Promise<string> {
  const slug = slugOf(name);
  const filter = { owner_id: owner, name_slug: slug, ...(renamed && { _id: { $ne: renamed._id } }) };
  const isTaken = await Sources(platform.mongo).exists(filter);
  return isTaken ? withRandomSuffix(slug) : slug;
}

/**
 * Checks a request and returns the source's fields as they will be stored, with its component, which is saved if the
 * request contains its code or URL. `before` is the current source if the request is an update. Throws `invalid`
 * naming every invalid prop, and `not-found` if there is no such component.
 */
export async function prepareSource(
  platform: PrepareDeps,
  deployer: Deployer,
  input: SourceInput,
  before?: Source,
): Promise<{ fields: Candidate; component: Component }> {
  const component =
    before && !namesComponent(input)
      ? await existingComponent(platform, before)
      : await resolveComponent(platform, deployer, input);
  const { props } = component.description;
  const previous = before && (await keptValues(platform, before, component));
  const values = configureProps(props, input.configured_props ?? {}, previous);
  await checkConnections(platform, deployer.owner, props, given(values, input.configured_props));
  const name = input.name ?? before?.name ?? slugOf(component.name);
  const timer = timerOf(props, values);
  const fields: Candidate = {
    component_id: component._id,
    component_url: input.component_url ?? (before && !namesComponent(input) ? before.component_url : null),
    name,
    name_slug:
      name === before?.name ? before.name_slug : await findFreeSlug(platform, deployer.owner, name, before),
    configured_props: platform.secrets.seal(JSON.stringify(values)),
    connection_ids: [...new Set(connectedProps(props, values).map(({ connectionId }) => connectionId))],
    endpoint: hasHttpInterface(props) ? (before?.endpoint ?? newToken()) : null,
    timer: timer && toStoredTimer(timer),
    active: input.active ?? true,
  };
  if (isSubMinute(fields) && !(before && isSubMinute(before))) {
    await checkCount(platform, deployer.owner, "subMinuteTimers");
  }
  return { fields, component };
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
export async function existingComponent(
  platform: Pick<Platform, "mongo">,
  source: Source,
): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw notFound("component");
  return component;
}

/**
 * Returns the values that a source keeps when it gets another component. A secret or a credential is kept only if the
 * new prop is secret and of the same type and app. Otherwise responses would show it, or another app would receive it.
 */
async function keptValues(platform: PrepareDeps, source: Source, component: Component): Promise<StoredProps> {
  const values: StoredProps = JSON.parse(platform.secrets.open(source.configured_props));
  if (component._id === source.component_id) return values;
  const { description } = await existingComponent(platform, source);
  const kept = description.props.filter(prop => {
    const next = component.description.props.find(({ name }) => name === prop.name);
    return !isSecret(prop) || (next && isSecret(next) && next.type === prop.type && next.app === prop.app);
  });
  return Object.fromEntries(kept.map(({ name }) => [name, values[name]]));
}

import { findComponent, saveComponent } from "../components/service.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { newToken } from "../lib/ids.ts";
import { type Component, Components } from "../models/component.ts";
import { type Source, Sources, type StoredTimer } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { configureProps, type StoredProps, timerOf } from "../props/configure.ts";
import type { Candidate } from "../queues/run-item.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { anotherSlug, slugOf } from "./slug.ts";

export type PreparePlatform = Pick<
  Platform,
  "mongo" | "clock" | "config" | "egress" | "sandboxes" | "secrets"
>;

/** For whom a source is made, and whose components it may use. */
export interface Deployer {
  owner: string;
  owners: string[];
  userId: string;
}

/** What a request says of a source; units and names as in rest-api.md, section 4.3. */
export interface SourceInput {
  component_id?: string;
  component_code?: string;
  component_url?: string;
  key?: string;
  name?: string;
  configured_props?: Record<string, unknown>;
  active?: boolean;
}

/** True when the request names a component in any of the four ways. */
export function namesComponent(input: SourceInput): boolean {
  return [input.component_id, input.component_code, input.component_url, input.key].some(
    given => given !== undefined,
  );
}

/** The component a request means: id before key before code before address. Throws `invalid`, `not-found`. */
async function resolveComponent(
  platform: PreparePlatform,
  deployer: Deployer,
  input: SourceInput,
): Promise<Component> {
  const named = input.component_id ?? input.key;
  if (named !== undefined) {
    const component = await findComponent(platform, named, deployer.owners);
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

async function freeSlug(
  platform: PreparePlatform,
  owner: string,
  name: string,
  own?: Source,
): Promise<string> {
  const slug = slugOf(name);
  const taken = await Sources(platform.mongo)
    .findOne({ owner_id: owner, name_slug: slug, ...(own && { _id: { $ne: own._id } }) }, { _id: 1 })
    .lean();
  return taken ? anotherSlug(slug) : slug;
}

/**
 * Checks what a request wants and gives the fields of the source as they will be stored; saves the component where
 * the request carries its code. `before` is the source as it is, for an update. Throws `invalid` naming each bad prop.
 */
export async function prepareSource(
  platform: PreparePlatform,
  deployer: Deployer,
  input: SourceInput,
  before?: Source,
): Promise<{ fields: Candidate; component: Component }> {
  const component =
    before && !namesComponent(input)
      ? await existingComponent(platform, before)
      : await resolveComponent(platform, deployer, input);
  const { props } = component.description;
  const previous = before && (await carriedOver(platform, before, component));
  const values = configureProps(props, input.configured_props ?? {}, previous);
  const name = input.name ?? before?.name ?? slugOf(component.name);
  const hasHttp = props.some(prop => prop.type === "$.interface.http");
  const fields: Candidate = {
    component_id: component._id,
    component_url: input.component_url ?? (before && !namesComponent(input) ? before.component_url : null),
    name,
    name_slug:
      name === before?.name ? before.name_slug : await freeSlug(platform, deployer.owner, name, before),
    configured_props: platform.secrets.seal(JSON.stringify(values)),
    endpoint: hasHttp ? (before?.endpoint ?? newToken()) : null,
    timer: storedTimer(timerOf(props, values)),
    active: input.active ?? true,
  };
  return { fields, component };
}

/** Whoever's it is: a member may have given an organization's source a component of their own, or the reverse. */
async function existingComponent(platform: PreparePlatform, source: Source): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw notFound("component");
  return component;
}

/**
 * The values that a source takes along to its next component. A secret or a credential goes only where it is one of the
 * same kind again: else it would be shown, or given to another app.
 */
async function carriedOver(
  platform: PreparePlatform,
  source: Source,
  component: Component,
): Promise<StoredProps> {
  const values: StoredProps = JSON.parse(platform.secrets.open(source.configured_props));
  if (component._id === source.component_id) return values;
  const { description } = await existingComponent(platform, source);
  const isHidden = ({ secret, type }: DescribedProp) => secret === true || type === "app";
  const kept = description.props.filter(prop => {
    const next = component.description.props.find(({ name }) => name === prop.name);
    return !isHidden(prop) || (next && isHidden(next) && next.type === prop.type && next.app === prop.app);
  });
  return Object.fromEntries(kept.map(({ name }) => [name, values[name]]));
}

function storedTimer(timer: ReturnType<typeof timerOf>): StoredTimer | null {
  if (!timer) return null;
  if ("cron" in timer) return { cron: timer.cron, timezone: timer.timezone, interval_seconds: null };
  return { cron: null, timezone: null, interval_seconds: timer.intervalSeconds };
}

import { appEndpointUrl } from "../connections/events/endpoint.ts";
import { INGRESS_PREFIX, ingressBase } from "../lib/hosts.ts";
import { newToken } from "../lib/ids.ts";
import type { Component } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import type { SourceFacts } from "../props/kinds.ts";

/** Returns the public URL of a source's HTTP interface; null if it has none. */
export function endpointUrl(platform: Pick<Platform, "config">, endpoint: string | null): string | null {
  return endpoint === null ? null : `${ingressBase(platform)}${INGRESS_PREFIX}/${endpoint}`;
}

/** Returns what the props of a source's component depend on. */
export function sourceFacts(
  platform: Pick<Platform, "config">,
  endpoint: string | null,
  component: Pick<Component, "adds_slash"> | undefined,
): SourceFacts {
  return slashed(endpointUrl(platform, endpoint), component?.adds_slash ?? false);
}

/** Returns what a source's props show of it besides their values; `component` is undefined if it belongs to somebody else. */
export const factsOf = (
  platform: Pick<Platform, "config">,
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

/** Returns the slug of a name: `My Source!` → `my-source`; `source` if nothing of the name is left. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug || "source";
}

/** Returns the slug with six random characters, for an account that already has a source with the slug itself. */
export function withRandomSuffix(slug: string): string {
  return `${slug}-${newToken().slice(0, 6).toLowerCase()}`;
}

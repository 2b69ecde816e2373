import type { Component } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { SourceFacts } from "../props/kinds.ts";

/** Path below which the web process receives requests for sources; no API path begins with it. */
export const INGRESS_PREFIX = "/in";

/** Returns the URL below which the endpoints of all sources are: `INGRESS_URL`, else `PUBLIC_URL`. */
export const ingressBase = ({ config }: Pick<Platform, "config">): string =>
  config.ingressUrl ?? config.publicUrl;

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

/**
 * Returns the facts of a component that may add a slash to its endpoint's address, to compare it with what the sender signed: then
 * senders are to know it with that slash (docs/component-api.md#events-given-to-run).
 */
export const slashed = (endpointUrl: string | null, addsSlash: boolean): SourceFacts => ({
  endpointUrl,
  ...(endpointUrl !== null && addsSlash && { registeredUrl: `${endpointUrl}/` }),
});

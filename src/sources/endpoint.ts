import { appEndpointUrl } from "../connections/events/endpoint.ts";
import { INGRESS_PREFIX, ingressBase } from "../lib/ingress-address.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import type { SourceFacts } from "../props/kinds.ts";

/** Returns the public URL of a source's HTTP interface; null if it has none. */
export function endpointUrl(platform: Pick<Platform, "config">, endpoint: string | null): string | null {
  return endpoint === null ? null : `${ingressBase(platform)}${INGRESS_PREFIX}/${endpoint}`;
}

/** Returns what a source's props show of it besides their values. */
export const factsOf = (
  platform: Pick<Platform, "config">,
  { endpoint, app_events }: Pick<Source, "endpoint" | "app_events">,
): SourceFacts => ({
  endpointUrl: endpointUrl(platform, endpoint),
  ...(app_events && {
    appEvents: {
      endpointUrl: appEndpointUrl(platform, app_events.connection_id, app_events.endpoint),
      names: app_events.names,
    },
  }),
});

import type { Destination } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { presentWebhook } from "../webhooks/present.ts";
import { KINDS } from "./kinds.ts";
import type { DestinationView } from "./schema.ts";
import { openSettings } from "./settings.ts";

/** Returns a destination as its owner sees it: its settings without secrets. */
export function presentDestination(
  platform: Pick<Platform, "clock" | "config" | "secrets">,
  destination: Destination,
): DestinationView {
  const { header_names, ...shared } = presentWebhook(platform, destination);
  const { kind } = destination;
  return { ...shared, kind, [kind]: KINDS[kind].show(openSettings(platform.secrets, destination)) };
}

import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Secrets } from "../store/secrets.ts";

/** Encrypts the settings of a destination. Throws `invalid` for `path` if they are too large. */
export function sealSettings(secrets: Secrets, settings: object, path: string): string {
  const json = JSON.stringify(settings);
  const most = LIMITS.destinationSettingsBytes.value;
  if (Buffer.byteLength(json) > most)
    throw invalidField("body", path, `must have at most ${most} bytes as JSON`);
  return secrets.seal(json);
}

/** Returns the settings of a destination as they were stored, secrets included. */
export function openSettings<Settings>(secrets: Secrets, { settings }: Pick<Webhook, "settings">): Settings {
  if (settings === undefined) throw new Error("a webhook has no settings");
  return JSON.parse(secrets.open(settings));
}

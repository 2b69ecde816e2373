import { Type } from "typebox";
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

/** Null is the same as absent. */
export const NullableString = (maxLength: number, description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], maxLength, description });

export const ServerAddress = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.urlCharacters.value, description });
export const Username = NullableString(256, "User name, if the url has none.");
export const Password = NullableString(
  1024,
  "Password, if the url has none; stored encrypted and never shown.",
);
export const PemCertificates = NullableString(
  32_768,
  "Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own.",
);

/** No more of what a server says is kept as an attempt's error. */
const MOST = 300;

/** Returns what a server said, without a secret that it may repeat. */
export function withoutSecret(text: string, secret: string | null): string {
  return (secret ? text.replaceAll(secret, "***") : text).slice(0, MOST);
}

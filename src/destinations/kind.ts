import { type Static, type TObject, Type } from "typebox";
import type { Uses } from "../components/components.ts";
import type { Deployer } from "../components/deployer.ts";
import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Destination, Webhook } from "../models/webhook.ts";
import type { Calling } from "../platform.ts";
import type { Secrets } from "../store/secrets.ts";

/** For whom settings are checked, and the field of the body that has them. */
export interface CheckFor<Settings = object> {
  /** The destination's id. */
  id: string;
  deployer: Deployer;
  path: string;
  /** The stored settings that are changed; absent for a new destination. */
  before?: Settings | undefined;
}

/** What is stored of a destination. */
export interface Checked<Settings> {
  /** How lists name the place where its events go, without user name and password. */
  url: string;
  settings: Settings;
  uses?: Uses;
  /** Names of the secrets that the change removed without being asked to, if the kind keeps them itself. */
  secretsRemoved?: string[];
}

/** One kind of destination: its settings in requests, as they are stored, and as they are shown. */
interface KindOf<Given, Settings> {
  /** Of its ids. */
  prefix: "ds" | "ac";
  /** The settings of a new one. */
  given: TObject;
  /** The settings that a change may name; those that are left out stay, and null removes one. */
  changes: TObject;
  /** The settings in responses: no secret. */
  shown: TObject;
  /** Settings that the `url` of another server removes unless they are given again (`lostSecrets`). */
  secrets: readonly string[];
  /** True if `check` gets a change as it is given, and keeps what that leaves out itself. */
  keepsItself?: boolean;
  /**
   * Checks settings, those of a change together with the stored ones, and returns them as they are stored. Throws
   * `invalid`.
   */
  check(platform: Calling, settings: Given, about: CheckFor<Settings>): Promise<Checked<Settings>>;
  /** Returns stored settings as they are shown, and how the destination is, if they are those of one. */
  show(settings: Settings, destination?: Destination): Record<string, unknown>;
}

export type Kind = KindOf<object, object>;

/** Describes a kind of destination, whose settings are checked against their schema before `check` gets them. */
export const defineKind = <Given extends TObject, Settings extends object>(
  kind: Omit<KindOf<Static<Given>, Settings>, "given"> & { given: Given },
): Kind => kind as unknown as Kind;

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

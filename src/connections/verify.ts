import type { ValidateFunction } from "ajv";
import { newAjv } from "../lib/schemas.ts";
import { type App, Apps, type Connection } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import {
  type EffectiveVerify,
  effectiveOf,
  type GivenVerify,
  looserFaults,
  presentEffective,
  secretFaults,
  stricter,
  withKeptSecrets,
} from "../verify/effective.ts";
import { invalidVerify } from "../verify/faults.ts";
import { VerifySettings } from "../verify/schema.ts";
import { choiceFaults } from "../verify/settings.ts";

/** Compiled at first use: only operators' commands need it. */
let validate: ValidateFunction<VerifySettings> | undefined;

type Secrets = Pick<Stores, "secrets">;
type Verified = Pick<Connection | App, "verify">;

/** Returns what an operator says of all connections of an app, encrypted. Throws `invalid`. */
export function sealAppVerify({ secrets }: Secrets, given: unknown): string {
  validate ??= newAjv({ strict: false }).compile<VerifySettings>(VerifySettings);
  if (!validate(given)) {
    const [error] = validate.errors ?? [];
    const path = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
    throw invalidVerify([{ path, message: error?.message ?? "is invalid" }]);
  }
  const whole = withKeptSecrets(given, null) ?? {};
  check(whole, null);
  return secrets.seal(JSON.stringify(whole));
}

/**
 * Returns what is said for one connection of an app, encrypted: `asked` in place of what was said `before`, whose secrets stay. Where
 * the app's operator has said how its requests are verified, it may only be stricter. Throws `invalid`.
 */
export async function sealConnectionVerify(
  platform: Stores,
  app: string,
  asked: VerifySettings | null,
  before: Verified | null,
): Promise<string | null> {
  const given = withKeptSecrets(asked, before && openGiven(platform, before));
  if (!given) return null;
  const ofApp = await Apps(platform.mongo).findById(app, { verify: 1 }).lean();
  check(given, ofApp && openGiven(platform, ofApp));
  return platform.secrets.seal(JSON.stringify(given));
}

function check(given: GivenVerify, ofApp: GivenVerify | null): void {
  const faults = ofApp ? looserFaults(given, effectiveOf(ofApp), "the app's operator") : choiceFaults(given);
  if (faults.length > 0) throw invalidVerify(faults);
  const unusable = secretFaults(effectiveOf(ofApp ?? given).choice, given.secrets ?? []);
  if (unusable.length > 0) throw invalidVerify(unusable);
}

const openGiven = ({ secrets }: Secrets, { verify }: Verified): GivenVerify | null =>
  verify ? (JSON.parse(secrets.open(verify)) as GivenVerify) : null;

/** Returns the secrets that were said of verification; undefined if nothing was. */
export const verifySecrets = (platform: Secrets, verified: Verified): string[] | undefined => {
  const given = openGiven(platform, verified);
  return given ? (given.secrets ?? []) : undefined;
};

/** Returns what was said of verification, as the API shows it: without the secrets; null for nothing. */
export function presentSettings(platform: Secrets, verified: Verified) {
  const given = openGiven(platform, verified);
  return given && presentEffective(effectiveOf(given));
}

/**
 * Returns how requests at a connection's endpoint are verified; null for any sender. What the operator says of the app counts, and the
 * connection only adds to it, whichever was said first.
 */
export function verifyOfConnection(
  platform: Secrets,
  connection: Verified,
  app: Verified,
): EffectiveVerify | null {
  const [own, ofApp] = [openGiven(platform, connection), openGiven(platform, app)];
  if (ofApp) return stricter(effectiveOf(ofApp), own ?? {});
  // One that only added to what the operator has taken back since has no rule: nothing is let through.
  return own && effectiveOf(own);
}

import type { KeyObject } from "node:crypto";
import type { AppRules } from "../connections/app-events.ts";
import { verifyOfConnection } from "../connections/verify.ts";
import { openPer } from "../lib/lazy.ts";
import type { Connection } from "../models/connection.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { verifyOf } from "../sources/verify.ts";
import type { EffectiveVerify } from "../verify/effective.ts";
import type { RejectReason } from "../verify/reasons.ts";
import { requestId } from "../verify/request-id.ts";
import type { RequestValues } from "../verify/request-values.ts";
import { openVerification, type RuleChoice } from "../verify/settings.ts";
import { type Verification, verifyValues } from "../verify/verify-request.ts";
import type { HttpEvent } from "./http-event.ts";
import { challengeResponse, type IngressResponse, lacksKey, rejected } from "./response.ts";

/** What a component is told of the sender of a request (docs/component-api.md#events-given-to-run). */
export interface VerifiedSender {
  /** Null for a rule of the source's own. */
  preset: string | null;
  /** Of what is reported; null if the rule names no place for it. */
  id: string | null;
  /** When the sender signed it, in Unix milliseconds; null if the rule has no time. */
  at: number | null;
}

/** How the requests at an endpoint are verified. */
export interface Verifying extends Verification {
  choice: RuleChoice;
  secrets: readonly string[];
  rejectWith: number;
  /** True if what would be rejected is let through, and marked. */
  isReporting: boolean;
  dropsRepeats: boolean;
  /** True if a hook of the source sets a secret: while hooks are being called, what can't be verified may be verified soon. */
  isOfHook: boolean;
}

type Secrets = Pick<Stores, "secrets">;
type Verified = Pick<Source, "verify">;

/** Returns how requests for a source are verified; null for any sender, at no cost. */
export const verificationOf = (platform: Secrets, source: Verified): Verifying | null =>
  source.verify ? openOnce({ platform, source }) : null;

/** For as long as the routing cache keeps the source's document. */
const openOnce = openPer(open, ({ source }) => source);

function open({ platform, source }: { platform: Secrets; source: Verified }): Verifying | null {
  const stored = verifyOf(platform, source);
  return stored && opened(stored, stored.hook !== undefined);
}

const opened = (effective: EffectiveVerify, isOfHook: boolean): Verifying => {
  const { choice, secrets, reject_with, mode, drop_repeats } = effective;
  return {
    ...openVerification(choice, secrets),
    ...{ choice, secrets, isOfHook },
    rejectWith: reject_with,
    isReporting: mode === "report",
    dropsRepeats: drop_repeats,
  };
};

/** Returns how requests at the endpoint of a connection are verified; null for any sender, at no cost. */
export function verificationOfConnection(
  platform: Secrets,
  connection: Pick<Connection, "verify">,
  app: AppRules,
): Verifying | null {
  if (!connection.verify && !app.verify) return null;
  const known = ofConnections.get(connection);
  // Both are as the routing cache keeps them: another object is a later version.
  if (known?.app === app) return known.verifying;
  const effective = verifyOfConnection(platform, connection, app);
  const verifying = effective && opened(effective, false);
  ofConnections.set(connection, { app, verifying });
  return verifying;
}

const ofConnections = new WeakMap<object, { app: AppRules; verifying: Verifying | null }>();

/** A request that may be parsed. */
export interface Admitted {
  outcome: "admitted";
  /** When it was signed. */
  atMs: number | null;
  /** What was wrong with it, if it is only reported. */
  rejection: RejectReason | null;
}

/** What becomes of a request before it is parsed. */
export type Admission =
  | Admitted
  | { outcome: "responded"; response: IngressResponse; rejection: RejectReason | null };

/** A verified request for whose sender an address is to be requested, before anything else is sent. */
interface Confirming {
  outcome: "confirming";
  url: string;
}

/** Decides about a request by its raw bytes: `rejection` says what was wrong with it, also if it is only reported. */
export function admit(
  verification: Verifying,
  values: RequestValues,
  nowMs: number,
  published: KeyObject | null,
): Admission | Confirming {
  const verdict = verifyValues(verification, values, nowMs, published);
  if (verdict.outcome === "verified") return { outcome: "admitted", atMs: verdict.atMs, rejection: null };
  if (verdict.outcome === "confirmation") return { outcome: "confirming", url: verdict.url };
  if (verdict.outcome === "challenge") {
    return { outcome: "responded", response: challengeResponse(verdict.response), rejection: null };
  }
  const { reason } = verdict;
  if (verification.isReporting) return { outcome: "admitted", atMs: null, rejection: reason };
  return { outcome: "responded", response: rejectionOf(verification, reason), rejection: reason };
}

/** Senders are not told why: a forger would learn what is left to guess. */
const rejectionOf = ({ rejectWith }: Verifying, reason: RejectReason): IngressResponse =>
  reason === "no-key" ? lacksKey() : rejected(rejectWith, "the request is not verified");

/** Returns the event with what a component is told of its sender: null if it is let through only because it is reported. */
export function withSender(
  verification: Verifying,
  event: HttpEvent,
  { atMs, rejection }: Admitted,
): HttpEvent {
  if (rejection !== null) return { ...event, verified: null };
  const { rule, choice } = verification;
  return { ...event, verified: { preset: choice.preset ?? null, id: requestId(rule, event), at: atMs } };
}

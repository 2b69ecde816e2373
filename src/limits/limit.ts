type Unit =
  | "bytes"
  | "characters"
  | "levels"
  | "count"
  | "percent"
  | "ms"
  | "per second"
  | "per minute"
  | "per hour"
  | "per day";

/** What a bound holds for: one item, all of an account, or all that one process does. */
type Scope =
  | "value"
  | "request"
  | "run"
  | "component"
  | "sandbox"
  | "source"
  | "webhook"
  | "callback host"
  | "connection"
  | "subscription"
  | "emitter"
  | "thing"
  | "key"
  | "address"
  | "session"
  | "account"
  | "account and process"
  | "user and process"
  | "process"
  | "installation";

export interface Limit {
  readonly value: number;
  readonly unit: Unit;
  readonly per: Scope;
  /** What is bounded, as the subject of a row in docs/limits.md. */
  readonly what: string;
  /** What happens beyond the bound: status and problem type, or what is done instead. */
  readonly beyond: string;
  /** The setting that changes the bound. */
  readonly setting?: string;
  /** The bound of an account on the paid plan, if it differs. */
  readonly paid?: number;
}

export const KB = 1024;
export const MB = 1024 * KB;

/** Returns a part of the catalogue; each of its names is known to the compiler. */
export const defineLimits = <T extends Record<string, Limit>>(
  limits: T,
): { readonly [K in keyof T]: Limit } => Object.freeze(limits);

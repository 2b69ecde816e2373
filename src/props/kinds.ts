/**
 * The kinds of props that a component may declare (docs/component-api.md#props). The host reads this table wherever
 * kinds differ: when a component is saved (components/describe.ts), when a source is configured, shown and run
 * (configure.ts).
 *
 * A new kind touches these files and no other code:
 * 1. this one: an entry in `KINDS`;
 * 2. src/sandbox/child/bind-this.ts, `propValue`: only if `this.<prop>` must be more than the JSON value that `bind`
 *    returns, such as an object with methods;
 * 3. a test: a case in test/compatibility/props.test.ts with its component in test/fixtures/components/props;
 * and its description in docs/component-api.md#props.
 *
 * A kind with an attribute of its own in the code, such as `min`, also needs the attribute where descriptions leave
 * the sandbox: src/sandbox/child/describe.ts, src/sandbox/check-message.ts and `DescribedProp` in
 * src/sandbox/protocol.ts.
 */
import type { DescribedProp } from "../sandbox/protocol.ts";
import { authorFaults } from "../verify/settings.ts";
import {
  appFault,
  booleanFault,
  type CheckedValue,
  checkScalar,
  checkValue,
  connectionIdOf,
  type FaultOf,
  integerFault,
  noFault,
  objectFault,
  type PropFault,
  stringFault,
  withLabel,
} from "./check-value.ts";
import { checkDeclaredTimer, checkDefaultTimer, checkTimer, effectiveTimer, presentTimer } from "./timer.ts";

/** What a prop's value may depend on besides its configuration. */
export interface SourceFacts {
  /** URL of the source's HTTP interface; null if it has none. */
  endpointUrl: string | null;
  /** What it gets of its app; absent if it has no apphook, and where no source exists. */
  appEvents?: { endpointUrl: string; names: string[] | null } | undefined;
  /** The same URL as senders are to know it, if that is another (docs/component-api.md#events-given-to-run). */
  registeredUrl?: string;
}

export interface PropKind {
  /** `type` of the prop in the component's code. */
  type: string;
  /** True if code may also declare a list of such values, `type[]`. */
  hasLists?: boolean;
  /** True if a source must configure a value, unless the prop is optional or the code has a default. */
  needsValue: boolean;
  /** True if the value is a credential, which responses never show. */
  isCredential?: boolean;
  /** Returns what is wrong with the prop as the code declares it, at paths below the prop. */
  checkDeclared?(prop: DescribedProp): PropFault[];
  /** Returns what is wrong with the code's default, which counts only for a source that configures no value. */
  checkDefault?(prop: DescribedProp): PropFault[];
  /** Checks a configured value (never null or undefined). Returns what is stored; `undefined` stores nothing. */
  check(prop: DescribedProp, given: unknown): CheckedValue;
  /** Returns the value of `this.<prop>` in the sandbox; undefined for none. `stored` is undefined if not configured. */
  bind(prop: DescribedProp, stored: unknown, source: SourceFacts): unknown;
  /** Returns the value in `configured_props` of a response; undefined leaves the prop out. */
  present(prop: DescribedProp, stored: unknown, source: SourceFacts): unknown;
}

export const APP_TYPE = "app";
export const HTTP_TYPE = "$.interface.http";
export const APPHOOK_TYPE = "$.interface.apphook";
export const TIMER_TYPE = "$.interface.timer";

/** A kind whose value the source's owner configures as JSON. */
const CONFIGURED: Omit<PropKind, "type"> = {
  needsValue: true,
  check: (prop, given) => checkValue(prop, given, noFault),
  bind(prop, stored) {
    const value = prop.static ?? stored ?? prop.default ?? undefined;
    return prop.withLabel && value !== undefined ? withLabel(value) : value;
  },
  present: (prop, stored) => (isSecret(prop) ? undefined : stored),
};

/** A kind that takes no value: the sandbox provides it, or it only displays something. */
const WITHOUT_VALUE: Omit<PropKind, "type"> = {
  needsValue: false,
  check: prop => ({ faults: [{ path: "", message: `must not have a value (${prop.type})` }] }),
  bind: () => undefined,
  present: () => undefined,
};

/** A configured kind of single values, which code may restrict by `options` and use in lists. */
const scalar = (type: string, faultOf: FaultOf): PropKind => ({
  ...CONFIGURED,
  type,
  hasLists: true,
  check: (prop, given) => checkScalar(prop, given, faultOf),
});

/** A configured kind without options. */
const configured = (type: string, faultOf: FaultOf, more: Partial<PropKind> = {}): PropKind => ({
  ...CONFIGURED,
  type,
  check: (prop, given) => checkValue(prop, given, faultOf),
  ...more,
});

const KINDS: PropKind[] = [
  scalar("string", stringFault),
  scalar("integer", integerFault),
  scalar("boolean", booleanFault),
  configured("object", objectFault, { hasLists: true }),
  configured("any", noFault, { hasLists: true }),
  configured("http_request", objectFault),
  configured(APP_TYPE, appFault, {
    needsValue: false,
    isCredential: true,
    bind: (_prop, stored) => ({ $auth: {}, ...(stored as object | undefined) }),
    // A connection is named, and never shows its credentials itself.
    present: (_prop, stored) => {
      const authProvisionId = connectionIdOf(stored);
      return authProvisionId === null ? undefined : { authProvisionId };
    },
  }),

  // Services that Headwater does not have: a source can be deployed without a value, and its code fails if it uses one.
  configured("data_store", stringFault, { needsValue: false }),
  configured("dir", noFault, { needsValue: false }),
  configured("sql", noFault, { needsValue: false }),

  { ...WITHOUT_VALUE, type: "$.service.db" },
  { ...WITHOUT_VALUE, type: "alert" },
  {
    ...WITHOUT_VALUE,
    type: HTTP_TYPE,
    checkDeclared: checkDeclaredHttp,
    // The shape of responses is accepted, so that a client can send back what it received; the endpoint never changes.
    check: (prop, given) => (isPresented(given) ? { value: undefined } : WITHOUT_VALUE.check(prop, given)),
    bind: (_prop, _stored, { endpointUrl, registeredUrl }) => ({
      endpoint: endpointUrl,
      endpointUrl,
      ...(registeredUrl !== undefined && { registeredUrl }),
    }),
    present: (_prop, _stored, { endpointUrl, registeredUrl }) => ({
      endpoint_url: registeredUrl ?? endpointUrl,
    }),
  },
  {
    ...WITHOUT_VALUE,
    type: APPHOOK_TYPE,
    check: (prop, given) => (isPresented(given) ? { value: undefined } : WITHOUT_VALUE.check(prop, given)),
    present: (_prop, _stored, { appEvents }) =>
      appEvents && { endpoint_url: appEvents.endpointUrl, event_names: appEvents.names },
  },
  {
    type: TIMER_TYPE,
    needsValue: false,
    checkDeclared: checkDeclaredTimer,
    checkDefault: checkDefaultTimer,
    check: checkTimer,
    bind: effectiveTimer,
    present: (prop, stored) => presentTimer(effectiveTimer(prop, stored)),
  },
];

/** `$.…` types that apps define, such as `$.airtable.baseId`: any JSON, also as a list. */
const APP_DEFINED: PropKind = { ...CONFIGURED, type: "$.…", hasLists: true };

const KIND_BY_TYPE = new Map(
  KINDS.flatMap(kind => [
    [kind.type, kind] as const,
    ...(kind.hasLists ? [[`${kind.type}[]`, kind] as const] : []),
  ]),
);

/** Returns the kind of a prop type, a list or not; undefined if there is no such type. */
export function findKind(type: string): PropKind | undefined {
  const kind = KIND_BY_TYPE.get(type);
  if (kind) return kind;
  // `$.interface.…` and `$.service.…` are the platform's own, so that an unknown one is an error and not an app's.
  const isAppDefined = /^\$\.\w/.test(type) && !/^\$\.(interface|service)\./.test(type);
  return isAppDefined ? APP_DEFINED : undefined;
}

/** Returns the kind of a saved component's prop; types were checked when the component was saved. */
export const kindOf = ({ type }: Pick<DescribedProp, "type">): PropKind => findKind(type) ?? APP_DEFINED;

/** True if responses never show the prop's value. */
export const isSecret = (prop: Pick<DescribedProp, "name" | "type" | "secret">): boolean =>
  prop.secret === true || kindOf(prop).isCredential === true;

function checkDeclaredHttp({ verify }: DescribedProp): PropFault[] {
  if (verify === undefined) return [];
  return authorFaults(verify).map(({ path, message }) => ({
    path: path === "" ? ".verify" : `.verify.${path}`,
    message,
  }));
}

/** What responses show of an interface. */
const PRESENTED = new Set(["endpoint_url", "event_names"]);

function isPresented(given: unknown): boolean {
  return typeof given === "object" && given !== null && Object.keys(given).every(key => PRESENTED.has(key));
}

import { type Static, type TSchema, Type } from "typebox";
import { ownDeployer } from "../../components/deployer.ts";
import type { Kind } from "../../destinations/kind.ts";
import { pull } from "../../destinations/pull/kind.ts";
import { rabbitMq } from "../../destinations/rabbitmq/kind.ts";
import { redisStream } from "../../destinations/redis-stream/kind.ts";
import { s3 } from "../../destinations/s3/kind.ts";
import { BODY_FORMATS, type BodyFormat } from "../../lib/body-formats.ts";
import { patternInWords } from "../../lib/schemas.ts";
import { APP_SLUG } from "../../lib/slug.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { DestinationKind } from "../../models/webhook.ts";
import type { Calling } from "../../platform.ts";
import { VerifySettings } from "../../verify/schema.ts";
import { ANY_ADDRESS } from "../remote/remote-command.ts";

/** A name: it is part of the thing's name on the server, and of plans. */
export const NAME = patternInWords(
  "^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$",
  "must be at most 48 lower-case letters, digits and dashes, without a dash at either end",
);
/** So many things of one kind in a file. */
const MOST = 1000;

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const closed = { additionalProperties: false };
const byName = <T extends TSchema>(schema: T) =>
  Type.Record(Type.String({ pattern: NAME }), schema, { ...closed, maxProperties: MOST });

const component = {
  /** Exactly one of these three: a file beside this one, an address, or the id or key of a saved component. */
  file: Type.Optional(Text(4096)),
  url: Type.Optional(Text(2048)),
  component: Type.Optional(Text(256)),
  props: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};
const DeclaredComponent = Type.Object(component);
/** What a source and an action have alike. */
export type DeclaredComponent = Static<typeof DeclaredComponent>;

const DeclaredSource = Type.Object({ ...component, active: Type.Optional(Type.Boolean()) }, closed);
export type DeclaredSource = Static<typeof DeclaredSource>;

/** A workflow has nothing but its name, so that its key alone declares it. */
const DeclaredWorkflow = Type.Unsafe<object | null>({ type: ["object", "null"], ...closed });

const delivery = {
  description: Type.Optional(Text(1024)),
  max_in_flight: Type.Optional(Type.Integer()),
  rate_limit_per_second: Type.Optional(Type.Integer()),
  ordered: Type.Optional(Type.Boolean()),
  retry_schedule: Type.Optional(Type.Array(Text(12))),
  timeout_seconds: Type.Optional(Type.Integer()),
  active: Type.Optional(Type.Boolean()),
};
const DeclaredReceiver = Type.Object(delivery);
/** What everything that has deliveries has alike. */
export type DeclaredReceiver = Static<typeof DeclaredReceiver>;

const DeclaredWebhook = Type.Object(
  {
    url: Text(2048),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    format: Type.Optional(Type.Unsafe<BodyFormat>({ type: "string", enum: BODY_FORMATS })),
    ...delivery,
  },
  closed,
);
export type DeclaredWebhook = Static<typeof DeclaredWebhook>;

/** Checked as the server does it, once the values of the environment are in them. */
const Settings = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/** The kinds that a file declares below `destinations`, with what the server knows of each; actions have a part of their own. */
export const KINDS = { redis_stream: redisStream, rabbitmq: rabbitMq, s3, pull } satisfies Record<
  Exclude<DestinationKind, "action">,
  Kind
>;

export const KIND_NAMES = Object.keys(KINDS) as DeclaredKind[];

const settingsByKind = Object.fromEntries(KIND_NAMES.map(kind => [kind, Settings])) as Record<
  (typeof KIND_NAMES)[number],
  typeof Settings
>;
const DeclaredDestination = Type.Object({ ...settingsByKind, ...delivery }, closed);
export type DeclaredDestination = Static<typeof DeclaredDestination>;

const DeclaredAction = Type.Object({ ...component, ...delivery }, closed);
export type DeclaredAction = Static<typeof DeclaredAction>;

/** What the server is told, but that a file has all secrets: none can be kept by its place. */
const DeclaredVerify = Type.Object(
  {
    ...VerifySettings.properties,
    secrets: Type.Optional(
      Type.Array(Text(LIMITS.verifySecretChars.value), { maxItems: LIMITS.verifySecrets.value }),
    ),
  },
  closed,
);

const DeclaredConnection = Type.Object(
  {
    app: Type.String({ pattern: APP_SLUG }),
    /** Without them it is one that its app's consent makes. */
    fields: Type.Optional(Type.Record(Type.String(), Type.String(), { minProperties: 1 })),
    events: Type.Optional(
      Type.Object(
        {
          names: Type.Optional(Type.Array(Text(512))),
          event: Type.Optional(Text(512)),
          challenge: Type.Optional(Text(512)),
        },
        closed,
      ),
    ),
    /** Not declared, it stays as it is; null: as the operator says for the app. */
    verify: Type.Optional(Type.Union([DeclaredVerify, Type.Null()])),
  },
  closed,
);
export type DeclaredConnection = Static<typeof DeclaredConnection>;

/** As what a subscription is from: the account that the file is applied to, which emits its alerts. No name of a file begins so. */
export const ACCOUNT = "$account";

const DeclaredSubscription = Type.Object(
  {
    /** A source or workflow of the file, an id, or ACCOUNT. */
    from: Text(64),
    /** A webhook, destination, action, source or workflow of the file, or an id. */
    to: Text(64),
    channel: Type.Optional(Type.String({ maxLength: 128 })),
    filter: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** A file beside this one. */
    function: Type.Optional(Text(4096)),
  },
  closed,
);
export type DeclaredSubscription = Static<typeof DeclaredSubscription>;

/** The file of `headwater apply` (docs/cli.md). */
export const Declaration = Type.Object(
  {
    project: Type.String({ pattern: NAME }),
    connections: Type.Optional(byName(DeclaredConnection)),
    workflows: Type.Optional(byName(DeclaredWorkflow)),
    sources: Type.Optional(byName(DeclaredSource)),
    webhooks: Type.Optional(byName(DeclaredWebhook)),
    destinations: Type.Optional(byName(DeclaredDestination)),
    actions: Type.Optional(byName(DeclaredAction)),
    subscriptions: Type.Optional(Type.Array(DeclaredSubscription, { maxItems: MOST })),
  },
  closed,
);
export type Declaration = Static<typeof Declaration>;

/** The parts of a file whose things have names, in the order in which the end of a subscription is looked for. */
export const NAMED = [
  "webhooks",
  "destinations",
  "actions",
  "sources",
  "workflows",
] as const satisfies (keyof Declaration)[];
export type Named = (typeof NAMED)[number];

/** Those of them that emit events. */
export const EMITTERS = ["sources", "workflows"] as const satisfies Named[];

export type DeclaredKind = keyof typeof KINDS;

/** Settings as the server has them. */
interface StoredSettings {
  /** As it shows them, without secrets. */
  shown: Record<string, unknown>;
  /** Those that are set. */
  secrets: Record<string, unknown>;
}

/**
 * Returns settings as the server has them once it got them: with its defaults, user name and password apart from the url.
 * Throws AppError `invalid` that names the setting, below the name of the kind.
 */
export async function settingsAsStored(kind: DeclaredKind, settings: object): Promise<StoredSettings> {
  const { check, show, secrets } = KINDS[kind];
  // All that these kinds read of a server is where it may connect, which only the server knows.
  const server = { config: { egressAllow: ANY_ADDRESS } } as unknown as Calling;
  const about = { id: "", deployer: ownDeployer({ ownerId: "", userId: "" }), path: kind };
  const stored = (await check(server, settings, about)).settings as Record<string, unknown>;
  const set = secrets.filter(name => (stored[name] ?? null) !== null);
  return { shown: show(stored), secrets: Object.fromEntries(set.map(name => [name, stored[name]])) };
}

/** Returns the value of a variable of the environment. */
export type ReadVariable = (name: string) => string | undefined;

/** `${NAME}` is a variable; `$${` is the text `${`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Values with their references to the environment filled in, and the paths of those that could not be. */
export interface Resolved {
  value: unknown;
  /** `webhooks.inbox.url: the environment has no INBOX_URL` */
  problems: string[];
}

/** Fills in `${NAME}` in every text below `value`, but not in the names of fields. `read` returns variables. */
export function resolveReferences(value: unknown, read: ReadVariable, path = ""): Resolved {
  if (typeof value === "string") return resolveText(value, read, path);
  if (typeof value !== "object" || value === null) return { value, problems: [] };
  const below = Object.entries(value).map(
    ([name, one]) => [name, resolveReferences(one, read, path === "" ? name : `${path}.${name}`)] as const,
  );
  const problems = below.flatMap(([, resolved]) => resolved.problems);
  const entries = below.map(([name, resolved]) => [name, resolved.value] as const);
  return {
    value: Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries),
    problems,
  };
}

function resolveText(text: string, read: ReadVariable, path: string): Resolved {
  const problems: string[] = [];
  const value = text.replace(REFERENCE, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1);
    const found = read(name);
    if (found === undefined) problems.push(`${path}: the environment has no ${name}`);
    return found ?? "";
  });
  return { value, problems };
}

/** Whether a value, as the file has it, contains something from the environment: then it may be a secret. */
export const hasReference = (raw: unknown): boolean =>
  [...(JSON.stringify(raw) ?? "").matchAll(REFERENCE)].some(([, name]) => name !== undefined);

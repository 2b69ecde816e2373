import { isDeepStrictEqual } from "node:util";
import { ApiError, type Headwater, type Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { type DeclaredReceiver, hasReference } from "./schema.ts";

/** One field that a change sets. */
export interface FieldChange {
  field: string;
  /** What the server has; left out if it has nothing, or if it may be a secret. */
  from?: unknown;
  /** As the file has it, so that no value of the environment is shown; null removes it. */
  to: unknown;
}

/** One thing that is to be made, changed or deleted. */
export interface Change {
  action: "create" | "update" | "delete";
  kind: "connection" | "webhook" | "destination" | "action" | "source" | "workflow" | "subscription";
  /** As a person finds it: `shop/orders`, or `shop/orders → shop/inbox`. */
  name: string;
  fields: FieldChange[];
  /** Makes it so. Throws the client's errors. */
  apply: () => Promise<void>;
}

/** Returns the change that deletes one thing. */
export const deletion = (kind: Change["kind"], name: string, remove: () => Promise<unknown>): Change => ({
  action: "delete",
  kind,
  name,
  fields: [],
  apply: async () => void (await remove()),
});

/** What is compared of one field. */
export interface Comparison {
  field: string;
  /** What the server has; undefined for nothing. */
  current: unknown;
  /** With the values of the environment; undefined for nothing. */
  wanted: unknown;
  /** As the file has it. */
  raw: unknown;
}

/** Returns the fields that differ. */
export function fieldChanges(comparisons: Comparison[]): FieldChange[] {
  return comparisons
    .filter(({ current, wanted }) => !isDeepStrictEqual(current ?? null, wanted ?? null))
    .map(({ field, current, raw }) => {
      // An earlier value of the same variable is as secret as this one.
      const isShown = current !== undefined && current !== null && !hasReference(raw);
      return { field, ...(isShown && { from: current }), to: raw ?? null };
    });
}

/** Secrets of which the server shows the names only, such as `headers`. */
interface NamedSecrets {
  field: string;
  /** Names in the file. */
  wanted: readonly string[];
  /** Names on the server. */
  current: readonly string[];
  /** Whether values differ, of the same names. */
  differs: () => Promise<boolean>;
}

/** Compares secrets by their names, then by their values, of which a plan shows none. */
export async function compareNamed({
  field,
  wanted,
  current,
  differs,
}: NamedSecrets): Promise<FieldChange[]> {
  const [names, present] = [listOf(wanted), listOf(current)];
  if (names === present && (wanted.length === 0 || !(await differs()))) return [];
  return [
    {
      field,
      ...(current.length > 0 && names !== present && { from: present }),
      to: wanted.length > 0 ? names : null,
    },
  ];
}

const listOf = (names: readonly string[]) => [...names].sort().join(", ");

/** Returns the names of those secrets that the server has other values for. It shows none, so it is asked. */
export type DifferingSecrets = (id: string, secrets: Record<string, unknown>) => Promise<string[]>;

const TOO_MANY = 429;

/** Returns what compares secrets; without asking, all of them differ if `sendsAll` is true. */
export const differingSecrets =
  (client: Headwater, { sendsAll }: { sendsAll: boolean }): DifferingSecrets =>
  async (id, secrets) => {
    const names = Object.keys(secrets);
    if (sendsAll || names.length === 0) return names;
    try {
      const { differ } = await client.request("post", "/secrets/compare", { body: { id, secrets } });
      return differ;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === TOO_MANY)) throw error;
      const message = `${id}: ${error.detail}; --secrets sends them without comparing`;
      throw new AppError("rate-limited", message, { cause: error });
    }
  };

type Receiver = Schemas["Webhook"] | Schemas["Destination"];

/** Settings that are the server's if a file has none. */
const NULL_BY_DEFAULT = [
  "max_in_flight",
  "rate_limit_per_second",
  "retry_schedule",
  "timeout_seconds",
] as const;

/** Returns what is compared of everything that has deliveries. */
export function compareDelivery(
  wanted: DeclaredReceiver,
  raw: DeclaredReceiver,
  current?: Receiver,
): Comparison[] {
  const { description, ordered = false, active } = wanted;
  const compare = (field: keyof DeclaredReceiver, value: unknown) => ({
    field,
    current: current?.[field],
    wanted: value,
    raw: raw[field] ?? value,
  });
  return [
    compare("description", description),
    ...NULL_BY_DEFAULT.map(field => compare(field, wanted[field])),
    ...(current || ordered ? [compare("ordered", ordered)] : []),
    ...compareActive(active, current),
  ];
}

/** Not declared, it stays as it is: the platform may have disabled it. */
export const compareActive = (
  active: boolean | undefined,
  current: { active: boolean } | undefined,
): Comparison[] =>
  active === undefined ? [] : [{ field: "active", current: current?.active, wanted: active, raw: active }];

const limitsOf = (wanted: DeclaredReceiver) => ({
  max_in_flight: wanted.max_in_flight ?? null,
  rate_limit_per_second: wanted.rate_limit_per_second ?? null,
  ordered: wanted.ordered ?? false,
  retry_schedule: wanted.retry_schedule ?? null,
  timeout_seconds: wanted.timeout_seconds ?? null,
});

/** Returns these fields for a request that creates it; `active` is not among them. */
export const newDelivery = (wanted: DeclaredReceiver) => ({
  ...limitsOf(wanted),
  ...(wanted.description !== undefined && { description: wanted.description }),
});

/** Returns these fields for a request that changes it: what is not declared is removed. */
export const changedDelivery = (wanted: DeclaredReceiver) => ({
  ...limitsOf(wanted),
  description: wanted.description ?? null,
  ...(wanted.active !== undefined && { active: wanted.active }),
});

import type { Schemas } from "../../../clients/typescript/src/index.ts";
import type { Comparison } from "./change.ts";
import type { DeclaredReceiver } from "./schema.ts";

type Receiver = Schemas["Webhook"] | Schemas["Destination"];

/** Returns what is compared of everything that has deliveries. */
export function compareDelivery(
  wanted: DeclaredReceiver,
  raw: DeclaredReceiver,
  current?: Receiver,
): Comparison[] {
  const { description, max_in_flight, rate_limit_per_second, ordered = false, active } = wanted;
  const compare = (field: keyof DeclaredReceiver, value: unknown) => ({
    field,
    current: current?.[field],
    wanted: value,
    raw: raw[field] ?? value,
  });
  return [
    compare("description", description),
    compare("max_in_flight", max_in_flight),
    compare("rate_limit_per_second", rate_limit_per_second),
    ...(current || ordered ? [compare("ordered", ordered)] : []),
    // Not declared, it stays as it is: the platform may have disabled it.
    ...(active === undefined ? [] : [compare("active", active)]),
  ];
}

const limitsOf = ({ max_in_flight, rate_limit_per_second, ordered }: DeclaredReceiver) => ({
  max_in_flight: max_in_flight ?? null,
  rate_limit_per_second: rate_limit_per_second ?? null,
  ordered: ordered ?? false,
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

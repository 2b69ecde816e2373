import { unixSeconds } from "../lib/unix-seconds.ts";
import type { Webhook } from "../models/webhook.ts";

/** What a request to create a webhook or a destination says of it, whatever its kind. */
export interface NewFields {
  ownerId: string;
  userId: string;
  name?: string | undefined;
  description?: string | undefined;
  max_in_flight?: number | null | undefined;
  rate_limit_per_second?: number | null | undefined;
  ordered?: boolean | undefined;
}

/** Returns the fields that a new webhook and a new destination have in common: active, and without a failure. */
export const newFields = (input: NewFields, nowMs: number) =>
  ({
    owner_id: input.ownerId,
    user_id: input.userId,
    name: input.name || null,
    description: input.description || null,
    active: true,
    disabled_reason: null,
    failing_since_ms: null,
    max_in_flight: input.max_in_flight ?? null,
    rate_limit_per_second: input.rate_limit_per_second ?? null,
    ordered: input.ordered ?? false,
    created_at: unixSeconds(nowMs),
    updated_at: unixSeconds(nowMs),
  }) satisfies Partial<Webhook>;

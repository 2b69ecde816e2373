import { type Static, Type } from "typebox";
import { NullableInteger } from "../../lib/schemas.ts";
import { unixSeconds } from "../../lib/time.ts";
import type { Destination } from "../../models/webhook.ts";
import { defineKind } from "../kind.ts";

/** It has no settings yet; what more there is to say of one is about how far it is. */
const Given = Type.Object({}, { additionalProperties: false });

const Shown = Type.Object(
  {
    waiting: Type.Integer({ description: "Events that are kept and not acknowledged." }),
    waiting_since: NullableInteger(
      "Unix seconds since which nothing was acknowledged although something waits; else null.",
    ),
  },
  { title: "PullSettings" },
);

/** Where a program pulls what a destination keeps for it: the route's path, so that it is right at any address of the server. */
const pullPath = (id: string): string => `/v1/listeners/${id}/events`;

/**
 * A program that asks for its events (docs/destinations.md#pull), since it can't be reached: behind a NAT, or only now and then. It is a
 * destination whose attempts store the event here, so that fan-out, filters, functions, order, retries, the log of
 * deliveries and replays are the same as for all others, and no other listener pays for it.
 */
export const pull = defineKind<typeof Given, object>({
  prefix: "ds",
  given: Given,
  changes: Given,
  shown: Shown,
  secrets: [],
  show: (_, destination) => (destination ? stateOf(destination) : {}),
  check: async (_, settings, { id }) => ({ url: pullPath(id), settings }),
});

function stateOf({ pull }: Destination): Static<typeof Shown> {
  const waiting = pull ? pull.last - pull.acknowledged : 0;
  return { waiting, waiting_since: pull && waiting > 0 ? unixSeconds(pull.waiting_since_ms) : null };
}

import { isDeepStrictEqual } from "node:util";
import { Type } from "typebox";
import { createGuessLimit, type GuessLimit } from "../http/rate-limit.ts";
import { data, routeFor } from "../http/route.ts";
import { invalidField, notFound } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Stores } from "../platform.ts";
import { checkCustomHeaders } from "../webhooks/custom-headers.ts";
import { type SecretValues, storedSecrets } from "./stored.ts";

const route = routeFor<Stores>();

/** The time in which `LIMITS.secretGuesses` comparisons of one thing may find a difference. */
const GUESSES_S = 60 * 60;

/** Returns the limit of comparisons that find a difference. The counts are in Redis; this is only their client. */
const limitOf = openPer(
  ({ redis, keys }: Stores): GuessLimit =>
    createGuessLimit(redis, {
      keyPrefix: `${keys.rateLimit()}-secrets`,
      points: LIMITS.secretGuesses.value,
      durationS: GUESSES_S,
      what: "secrets for this id",
    }),
  ({ redis }) => redis,
);

/**
 * Returns the names of the given secrets of a thing that are not as they are stored; those that are not stored differ. Throws
 * `invalid` for headers that no webhook can have.
 */
const differingSecrets = (id: string, stored: SecretValues, given: SecretValues): string[] =>
  Object.keys(given).filter(name => {
    const value = id.startsWith("wh_") && name === "headers" ? headersAsStored(given[name]) : given[name];
    return !Object.hasOwn(stored, name) || !isDeepStrictEqual(stored[name], value);
  });

/** The route that compares secrets, which no response shows (docs/decisions/0058-secrets-compared.md). */
export const secretRoutes = [
  route({
    method: "POST",
    path: "/secrets/compare",
    id: "compareSecrets",
    audit: null,
    tag: "Secrets",
    summary: "Compare secrets with those that are stored",
    description:
      "For a program that keeps things as a file declares them: it learns which secrets it has to send again. After " +
      `${LIMITS.secretGuesses.value} ` +
      "comparisons of one thing in an hour that found a difference there is 429, also for what is right, so that no secret can be guessed.",
    access: { kind: "owner" },
    body: Type.Object({
      id: Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Of a source, a webhook, a destination, an action or a connection.",
      }),
      secrets: Type.Record(Type.String(), Type.Unknown(), {
        minProperties: 1,
        maxProperties: LIMITS.props.value,
        description:
          "Values by name: of a source or an action secret props, of a webhook `headers`, of a destination its secret setting, " +
          "of a connection `fields`, and `verify`: the list of its `verify.secrets`.",
      }),
    }),
    response: data(
      200,
      Type.Object({
        differ: Type.Array(Type.String(), {
          description: "Names of those that are not as they are stored, or not stored at all.",
        }),
      }),
    ),
    errors: ["not-found", "unavailable"],
    example: {
      body: { id: "wh_0CjBAEdF3kWq9RtZ", secrets: { headers: { authorization: "Bearer 3f9c1d" } } },
      response: { differ: ["headers"] },
    },
    handler: async ({ deps, body: { id, secrets }, owners }) => {
      const stored = await storedSecrets(deps, id, owners);
      if (stored === null) throw notFound("source, webhook, destination, action or connection");
      const differ = differingSecrets(id, stored, secrets);
      await limitOf(deps)(id, differ.length === 0);
      return { differ };
    },
  }),
];

function headersAsStored(value: unknown): Record<string, string> {
  const isText = (one: unknown) => typeof one === "string";
  if (typeof value !== "object" || value === null || !Object.values(value).every(isText)) {
    throw invalidField("body", "secrets.headers", "must be texts by name");
  }
  return checkCustomHeaders(value as Record<string, string>);
}

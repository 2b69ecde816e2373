import { type DeclaredKind, KINDS } from "../apply/schema.ts";
import type { Hand } from "./hands.ts";
import type { Names } from "./names.ts";
import { literal } from "./props.ts";
import type { ShownReceiver } from "./shown.ts";

interface SettingTools {
  names: Names;
  /** What the file calls the destination. */
  thing: string;
}

/** Returns the settings of a destination as `apply` takes them: those that the server shows, and a variable for each secret that is set. */
export function declareSettings(
  kind: DeclaredKind,
  shown: Record<string, unknown>,
  { names, thing }: SettingTools,
) {
  const { given, secrets } = KINDS[kind];
  const known = Object.entries(shown).filter(
    ([setting, value]) => setting in given.properties && !secrets.includes(setting) && value !== null,
  );
  const hands: Hand[] = [];
  const variables = secrets
    .filter(secret => shown[`has_${secret}`] !== false)
    .map(secret => {
      const variable = names.variable(thing, secret);
      hands.push({ kind: "secret", thing, text: `\`${variable}\` is its \`${secret}\`` });
      return [secret, `\${${variable}}`] as const;
    });
  const settings = Object.fromEntries([
    ...known.map(([setting, value]) => [setting, literal(value)]),
    ...variables,
  ]);
  return { settings, hands };
}

/** A file of `apply` has no longer ones. */
const MAX_DESCRIPTION_CHARS = 1024;

/** What a file says of how deliveries are made; the server's defaults are left out. */
export function deliveryOf({ description, ordered, ...receiver }: ShownReceiver) {
  const { max_in_flight, rate_limit_per_second, retry_schedule, timeout_seconds } = receiver;
  const given = Object.entries({ max_in_flight, rate_limit_per_second, retry_schedule, timeout_seconds });
  return {
    ...(description && { description: literal(description.slice(0, MAX_DESCRIPTION_CHARS)) }),
    ...(ordered === true && { ordered }),
    ...Object.fromEntries(given.filter(([, value]) => value !== null && value !== undefined)),
  };
}

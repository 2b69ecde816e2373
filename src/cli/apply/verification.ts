import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { effectiveOf, presentEffective } from "../../verify/effective.ts";
import { type FieldChange, fieldChanges } from "./compare.ts";
import { type DeclaredConnection, hasReference } from "./schema.ts";

type Declared = DeclaredConnection["verify"];

interface OnServer {
  current: Schemas["Connection"]["verify"];
  /** Returns whether the server has other secrets than these. */
  differing: (secrets: string[]) => Promise<unknown[]>;
}

/**
 * Compares how the requests of a connection are verified: first as the server shows it, then the secrets, of which it shows none. `wanted`
 * has the values of the environment, `raw` is what the file has; if that says nothing of verification, or of secrets, they stay.
 */
export async function compareVerify(
  wanted: Declared,
  raw: Declared,
  { current, differing }: OnServer,
): Promise<FieldChange[]> {
  if (wanted === undefined) return [];
  const settings = fieldChanges([
    {
      field: "verify",
      current: current ? withoutSecrets(current) : undefined,
      wanted: wanted && withoutSecrets(presentEffective(effectiveOf(wanted))),
      raw: raw && withoutSecrets(raw),
    },
  ]);
  const secrets = wanted?.secrets;
  if (!secrets) return settings;
  const isSame =
    secrets.length === (current?.secrets ?? 0) &&
    (secrets.length === 0 || (await differing(secrets)).length === 0);
  if (isSame) return settings;
  const written = raw?.secrets?.map(secret => (hasReference(secret) ? secret : "a secret"));
  return [...settings, { field: "verify.secrets", to: written ?? null }];
}

const withoutSecrets = <Said extends { secrets?: unknown }>({ secrets: _, ...said }: Said) => said;

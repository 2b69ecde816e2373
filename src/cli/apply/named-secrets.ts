import type { FieldChange } from "./change.ts";

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

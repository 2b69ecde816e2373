import type { DescribedProp } from "../sandbox/protocol.ts";
import type { StoredProps } from "./configure.ts";
import { isSecret } from "./kinds.ts";

/**
 * Returns the values that stay when what they configure gets another component. A secret or a credential is kept only if the
 * new prop is secret and of the same type and app. Otherwise responses would show it, or another app would receive it.
 */
export function keptValues(
  values: StoredProps,
  before: DescribedProp[],
  after: DescribedProp[],
): StoredProps {
  const kept = before.filter(prop => {
    const next = after.find(({ name }) => name === prop.name);
    return !isSecret(prop) || (next && isSecret(next) && next.type === prop.type && next.app === prop.app);
  });
  return Object.fromEntries(kept.map(({ name }) => [name, values[name]]));
}

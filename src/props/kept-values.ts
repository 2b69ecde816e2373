import { Type } from "typebox";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { connectionIdOf } from "./check-value.ts";
import { type StoredProps, secretsSet } from "./configure.ts";
import { isSecret } from "./kinds.ts";

/** What a source or an action has before an update. */
interface Before {
  values: StoredProps;
  props: DescribedProp[];
  /** True if the update gives it another component, and does not edit the code of its own. */
  isReplaced: boolean;
}

/**
 * Returns the values that stay when what they configure gets other props. A secret or a credential is kept only if the new
 * prop is secret and of the same type and app: otherwise responses would show it, or another app would receive it. None is
 * kept for another component, which could send it anywhere; a connection is, which every member can name again.
 */
export function keptValues({ values, props, isReplaced }: Before, after: DescribedProp[]): StoredProps {
  const kept = props.filter(prop => {
    if (!isSecret(prop)) return true;
    if (isReplaced && connectionIdOf(values[prop.name]) === null) return false;
    const next = after.find(({ name }) => name === prop.name);
    return next && isSecret(next) && next.type === prop.type && next.app === prop.app;
  });
  return Object.fromEntries(kept.map(({ name }) => [name, values[name]]));
}

/** Returns the names of the secrets that an update took away without being asked to. */
export const secretsRemoved = (
  { values, props }: Before,
  after: StoredProps,
  configured: Record<string, unknown>,
): string[] =>
  secretsSet(props, values).filter(name => !Object.hasOwn(after, name) && !Object.hasOwn(configured, name));

/** What the response to an update says of secrets, so that a form or a person gives them again. */
export const SecretsRemoved = Type.Array(Type.String(), {
  description:
    "Names of the secrets that the update removed, because they were for another server or another component, and were not " +
    "given again.",
});

import { AppError } from "../../lib/errors.ts";
import type { Declared } from "./read-file.ts";

type Props = Record<string, unknown>;

/** An id instead of a name of the file. */
const ID = /^apn_/;

/** Returns the connection of the file that a prop's value names: `{authProvisionId: weather}`; undefined for other values. */
function nameIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { authProvisionId: name, ...others } = value as Props;
  return typeof name === "string" && !ID.test(name) && Object.keys(others).length === 0 ? name : undefined;
}

/** Returns props with the ids of the connections that they name, as far as these are there. */
export const withConnectionIds = (props: Props, ids: ReadonlyMap<string, string>): Props =>
  Object.fromEntries(
    Object.entries(props).map(([prop, value]) => {
      const name = nameIn(value);
      const id = name === undefined ? undefined : ids.get(name);
      return [prop, id === undefined ? value : { authProvisionId: id }];
    }),
  );

/** As `withConnectionIds`, once all that could be made is. Throws AppError `conflict` for a connection that still is not there. */
export function madeConnectionIds(props: Props, ids: ReadonlyMap<string, string>): Props {
  const made = withConnectionIds(props, ids);
  for (const value of Object.values(made)) {
    const name = nameIn(value);
    if (name !== undefined) throw new AppError("conflict", `the connection ${name} is not there yet`);
  }
  return made;
}

/** Returns a problem for each prop of a file that names a connection which the file does not have. */
export function connectionProblems({
  connections = {},
  sources = {},
  actions = {},
}: Declared["raw"]): string[] {
  return Object.entries({ sources, actions }).flatMap(([part, things]) =>
    Object.entries(things).flatMap(([thing, { props = {} }]) =>
      Object.entries(props).flatMap(([prop, value]) => {
        const name = nameIn(value);
        const isThere = name === undefined || name.includes("${") || Object.hasOwn(connections, name);
        return isThere
          ? []
          : [`${part}.${thing}.props.${prop}.authProvisionId: there is no connection ${name}`];
      }),
    ),
  );
}

import { type PrivateAddress, parsePrivateAddress, showPrivateAddress } from "../egress/private-addresses.ts";
import { type FieldError, invalidFields, notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Connection, Connections } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { writeRevision } from "../store/revisions.ts";

/** Returns a connection of any account, for an operator. Throws `not-found`. */
export async function connectionOfAny({ mongo }: Stores, id: string): Promise<Connection> {
  const connection = await Connections(mongo).findById(id).lean<Connection>();
  if (!connection) throw notFound("connection");
  return connection;
}

/** Returns what code with this connection may connect to beside public addresses. */
export const openedTo = ({
  private_addresses = [],
}: Pick<Connection, "private_addresses">): PrivateAddress[] => private_addresses.map(parsePrivateAddress);

/**
 * Opens these addresses, and no others, to code that has the connection as a prop (docs/connections.md#private-addresses): the next
 * call has them. By an operator only, because an account could reach whatever is inside. Throws `not-found`, and `invalid` that names
 * each text which is not an address.
 */
export async function openPrivateAddresses(
  platform: Stores,
  id: string,
  texts: readonly string[],
): Promise<Connection> {
  const addresses = checked(texts);
  const connection = await connectionOfAny(platform, id);
  const set = { private_addresses: addresses, updated_at: unixSeconds(platform.clock()) };
  const updated = await writeRevision(connection, {
    what: "connection",
    namesIn: () => ["private_addresses"],
    read: () => Connections(platform.mongo).findById(id).lean<Connection | null>(),
    write: (filter, revision) =>
      Connections(platform.mongo)
        .findOneAndUpdate(
          { _id: id, ...filter },
          { $set: { ...set, ...revision } },
          { returnDocument: "after" },
        )
        .lean<Connection | null>(),
  });
  await platform.routing.invalidate([connection.owner_id]);
  return updated;
}

function checked(texts: readonly string[]): string[] {
  const addresses = new Set<string>();
  const errors = texts.flatMap((text, at): FieldError[] => {
    try {
      addresses.add(showPrivateAddress(parsePrivateAddress(text)));
      return [];
    } catch (error) {
      return [{ in: "body", path: `private_addresses[${at}]`, message: (error as Error).message }];
    }
  });
  if (errors.length > 0) throw invalidFields(errors);
  return [...addresses];
}

import type { Connection as HttpConnection } from "../connection.ts";
import type { List } from "../list.ts";
import { type AccountQuery, listOfAccount } from "../lists.ts";
import type { BodyOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Connection } from "../schema.ts";

/** Connections: accounts of apps, whose credentials sources use by `{ authProvisionId: "apn_…" }`. */
export class Connections {
  readonly #connection: HttpConnection;

  constructor(connection: HttpConnection) {
    this.#connection = connection;
  }

  /** Lists the connections of the organization, if the client is for one, else of the caller, newest first; all, or those with a text (`q`) in name, app or id. */
  list(query: AccountQuery<"connections"> = {}, options?: CallOptions): List<Connection> {
    return listOfAccount(this.#connection, "connections", query, options);
  }

  /** Lists the apps that can be connected by their consent. */
  apps(options?: CallOptions) {
    return this.#connection.send("get", "/apps", {}, options);
  }

  /** Fetches a connection with its state, never its credentials. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/connections/{id}", { params: { id } }, options);
  }

  /** Stores fields such as an API key, which no response shows. */
  create(body: BodyOf<"/connections", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/connections", { body }, options);
  }

  /** Returns the `url` at which a person agrees. The connection exists once the app has granted it. */
  connect(body: BodyOf<"/connections/consents", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/connections/consents", { body }, options);
  }

  /** As `connect`, for one that exists. */
  reconnect(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/connections/{id}/reconnect", { params: { id } }, options);
  }

  /** Renews its token now, although it may have time left. */
  renew(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/connections/{id}/renew", { params: { id } }, options);
  }

  /** Replaces the address at which its app's events arrive; the old one works for 24 more hours. */
  rotateEndpoint(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/connections/{id}/rotate_endpoint", { params: { id } }, options);
  }

  /** Which requests at its endpoint were not verified: counts by reason, and the last of them. */
  rejections(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/connections/{id}/rejections", { params: { id } }, options);
  }

  /** For operators: what code with a connection of any account may connect to beside public addresses. */
  privateAddresses(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/connections/{id}/private_addresses", { params: { id } }, options);
  }

  /** For operators: opens these hosts and ports, such as `10.0.0.5:5432`, to code with the connection, and closes others. */
  openPrivateAddresses(id: string, private_addresses: string[], options?: CallOptions) {
    const request = { params: { id }, body: { private_addresses } };
    return this.#connection.send("put", "/connections/{id}/private_addresses", request, options);
  }

  /** Renames it, or replaces its fields, or how its app's events are read and verified. */
  update(id: string, body: BodyOf<"/connections/{id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/connections/{id}", { params: { id }, body }, options);
  }

  /** A ConflictError names the sources that use it, unless `force` is true: then their runs fail. */
  delete(id: string, { force = false }: { force?: boolean } = {}, options?: CallOptions) {
    const query = force ? { force } : {};
    return this.#connection.send("delete", "/connections/{id}", { params: { id }, query }, options);
  }
}

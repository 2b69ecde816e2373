import type { Connection } from "../connection.ts";
import { type Cursor, List } from "../list.ts";
import type { BodyOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { ApiKey } from "../schema.ts";

/** API keys of the caller: what each may do, and until when. */
export class ApiKeys {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the caller's API keys, those that are revoked or expired too, newest first. */
  list(query: Cursor = {}, options?: CallOptions): List<ApiKey> {
    return new List(query, cursor => this.#connection.send("get", "/api_keys", { query: cursor }, options));
  }

  /** Creates an API key, which only this response shows. Without a body it may do everything, and does not expire. */
  create(body: BodyOf<"/api_keys", "post"> = {}, options?: CallOptions) {
    return this.#connection.send("post", "/api_keys", { body }, options);
  }

  /** Creates an address at which an agent's host connects without sending a key; only this response shows it. It reads by default. */
  createConnectorUrl(body: BodyOf<"/connector_urls", "post"> = {}, options?: CallOptions) {
    return this.#connection.send("post", "/connector_urls", { body }, options);
  }

  /** Revokes an API key or a connector URL, and ends the sessions that began with it. */
  revoke(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/api_keys/{id}", { params: { id } }, options);
  }
}

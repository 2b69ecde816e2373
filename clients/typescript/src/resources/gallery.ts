import type { Connection } from "../connection.ts";
import type { QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";

/** The gallery: components that come with the server's release, ready to be deployed by their `component_id`. */
export class Gallery {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists its components, by words, category, kind of account and type. */
  list(query: QueryOf<"/gallery", "get"> = {}, options?: CallOptions) {
    return this.#connection.send("get", "/gallery", { query }, options);
  }

  /** Fetches one by its key, with its props, a sample of its events and its changes. */
  get(key: string, options?: CallOptions) {
    return this.#connection.send("get", "/gallery/{key}", { params: { key } }, options);
  }
}

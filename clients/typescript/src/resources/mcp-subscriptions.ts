import type { Connection } from "../connection.ts";
import type { List } from "../list.ts";
import { type AccountQuery, listOfAccount } from "../lists.ts";
import type { CallOptions } from "../options.ts";
import type { McpSubscription } from "../schema.ts";

/** What agents have subscribed to over the Model Context Protocol. They make and refresh their subscriptions themselves. */
export class McpSubscriptions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists those of the organization, if the client is for one, else of the caller. */
  list(query: AccountQuery<"mcp_subscriptions"> = {}, options?: CallOptions): List<McpSubscription> {
    return listOfAccount(this.#connection, "mcp_subscriptions", query, options);
  }

  /** Fetches one. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/mcp_subscriptions/{id}", { params: { id } }, options);
  }

  /** Ends one, and cancels its pending deliveries. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/mcp_subscriptions/{id}", { params: { id } }, options);
  }
}

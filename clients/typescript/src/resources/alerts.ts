import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { EventQuery } from "../lists.ts";
import type { BodyOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { EventSummary } from "../schema.ts";

/** What an account should know of: webhooks and sources that fail, its quota. */
export class Alerts {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The last alerts of the organization, if the client is for one, else of the user; newest first. */
  list({ expand, ...start }: EventQuery = {}, options?: CallOptions): List<EventSummary> {
    const { orgId } = this.#connection;
    return new List(start, cursor => {
      const query = { ...cursor, ...(expand && { expand }) };
      return orgId === undefined
        ? this.#connection.send("get", "/users/me/$alerts/event_summaries", { query }, options)
        : this.#connection.send(
            "get",
            "/orgs/{org_id}/$alerts/event_summaries",
            { params: { org_id: orgId }, query },
            options,
          );
    });
  }

  /** How the user is told of alerts. */
  settings(options?: CallOptions) {
    return this.#connection.send("get", "/users/me/alert_settings", {}, options);
  }

  /** Changes how the user is told of alerts. */
  updateSettings(body: BodyOf<"/users/me/alert_settings", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/users/me/alert_settings", { body }, options);
  }
}

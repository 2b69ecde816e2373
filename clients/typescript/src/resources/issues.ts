import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Issue } from "../schema.ts";

/** Issues: failures of deliveries, grouped by webhook or destination and kind of error. */
export class Issues {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the issues of the organization, if the client is for one, else of the caller, by state and listener. */
  list(query: QueryOf<"/users/me/issues", "get"> = {}, options?: CallOptions): List<Issue> {
    const { orgId } = this.#connection;
    return new List(query, cursor => {
      const asked = { ...query, ...cursor };
      return orgId === undefined
        ? this.#connection.send("get", "/users/me/issues", { query: asked }, options)
        : this.#connection.send(
            "get",
            "/orgs/{org_id}/issues",
            { params: { org_id: orgId }, query: asked },
            options,
          );
    });
  }

  /** Fetches an issue. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/issues/{id}", { params: { id } }, options);
  }

  /** Acknowledges, resolves or opens it. */
  update(id: string, body: BodyOf<"/issues/{id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/issues/{id}", { params: { id }, body }, options);
  }

  /** Retries every delivery of it that has failed; returns the replay that does. */
  retry(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/issues/{id}/retry", { params: { id } }, options);
  }
}

import type { Connection as HttpConnection } from "./connection.ts";
import { type Cursor, List, type Page } from "./list.ts";
import type { QueryOf } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import type {
  AuditEntry,
  Connection,
  Destination,
  EventSummary,
  McpSubscription,
  Source,
  Subscription,
  Webhook,
  Workflow,
} from "./schema.ts";

/** Which events of an emitter. */
export interface EventQuery extends Cursor {
  /** `event`: with their whole data. */
  expand?: "event";
}

interface RowsOfAccount {
  sources: Source;
  webhooks: Webhook;
  destinations: Destination;
  mcp_subscriptions: McpSubscription;
  subscriptions: Subscription;
  workflows: Workflow;
  connections: Connection;
  audit_log: AuditEntry;
}

/** Which things of a kind, and where to begin. */
export type AccountQuery<Kind extends keyof RowsOfAccount> = NonNullable<QueryOf<`/users/me/${Kind}`, "get">>;

/** The things of one kind of the connection's organization, or of the caller. */
export function listOfAccount<Kind extends keyof RowsOfAccount>(
  connection: HttpConnection,
  kind: Kind,
  start: AccountQuery<Kind>,
  options?: CallOptions,
): List<RowsOfAccount[Kind]> {
  const { orgId } = connection;
  return new List(start, async cursor => {
    const query = { ...start, ...cursor };
    const page =
      orgId === undefined
        ? await connection.send("get", `/users/me/${kind as "sources"}`, { query }, options)
        : await connection.send(
            "get",
            `/orgs/{org_id}/${kind as "sources"}`,
            { params: { org_id: orgId }, query },
            options,
          );
    // The paths differ in their rows only, which the compiler can't follow.
    return page as unknown as Page<RowsOfAccount[Kind]>;
  });
}

type EventList =
  | "/sources/{id}/event_summaries"
  | "/sources/{id}/$errors/event_summaries"
  | "/sources/{id}/$logs/event_summaries"
  | "/workflows/{workflow_id}/event_summaries"
  | "/workflows/{workflow_id}/$errors/event_summaries";

/** The stored events of an emitter. */
export function listOfEmitter(
  connection: HttpConnection,
  path: EventList,
  params: Record<string, string>,
  { expand, ...start }: EventQuery,
  options?: CallOptions,
): List<EventSummary> {
  const kept = expand === undefined ? {} : { expand };
  return new List(start, cursor =>
    connection.send("get", path, { params: params as never, query: { ...cursor, ...kept } }, options),
  );
}

import { accountListsFor } from "../../http/account-lists.ts";
import { accepted, data, page, routeFor } from "../../http/route.ts";
import type { Queued, Stores } from "../../platform.ts";
import { exampleReplay, presentReplay, ReplayView } from "../replays/routes.ts";
import { listIssues, ownIssue, presentIssue, retryIssue, setIssueState } from "./issues.ts";
import { exampleIssue, IssueChanges, IssueFilter, IssueView } from "./schema.ts";

type Deps = Stores & Queued;
const route = routeFor<Deps>();
const tag = "Issues";

const params = { id: exampleIssue.id };

/** Failures grouped by cause: who knows of them, and how they are retried. */
export const issueRoutes = [
  ...accountListsFor<Deps>()({
    things: "issues",
    tag,
    description:
      "Failed attempts, grouped by listener and kind of error. Those of the newest listeners come first. `GET /deliveries` lists " +
      "what is affected, by `issue_id`.",
    query: IssueFilter,
    errors: ["not-found"],
    response: page(200, IssueView),
    example: exampleIssue,
    read: ({ deps, owner, owners, query, page }) => listIssues(deps, { owner, owners }, query, page),
  }),
  route({
    method: "GET",
    path: "/issues/{id}",
    id: "getIssue",
    tag,
    summary: "Get an issue",
    description: "Its counts are up to a second old.",
    access: ownIssue,
    response: data(200, IssueView),
    example: { params, response: exampleIssue },
    handler: ({ deps, resource }) => presentIssue(deps, resource),
  }),
  route({
    method: "PUT",
    path: "/issues/{id}",
    id: "updateIssue",
    audit: "issue.updated",
    tag,
    summary: "Acknowledge, resolve or open an issue",
    description:
      "An acknowledged issue stays so while it goes on. A resolved one is open again with the next failure. What nothing is " +
      "seen of for 15 minutes resolves itself, if its listener is active and does not fail.",
    access: ownIssue,
    body: IssueChanges,
    response: data(200, IssueView),
    example: {
      params,
      body: { state: "acknowledged" },
      response: {
        ...exampleIssue,
        state: "acknowledged",
        acknowledged_at_ms: 1_700_000_700_000,
        acknowledged_by: "u_0CjB8sXp1LmN4vYb",
      },
    },
    handler: async ({ deps, resource, body, caller }) =>
      await presentIssue(
        deps,
        await setIssueState(deps, resource, { state: body.state, userId: caller.userId }),
      ),
  }),
  route({
    method: "POST",
    path: "/issues/{id}/retry",
    id: "retryIssue",
    audit: "issue.retried",
    tag,
    summary: "Retry every delivery of an issue that has failed",
    description:
      "As `POST /replays` with its `issue_id`: a worker retries them in batches, oldest first, and `GET /replays/{id}` shows how " +
      "far it is. The issue stays as it is.",
    access: ownIssue,
    response: accepted(202, ReplayView),
    errors: ["conflict"],
    example: {
      params,
      response: {
        ...exampleReplay,
        filter: { issue_id: exampleIssue.id, webhook_id: exampleIssue.listener_id, state: "failed" },
      },
    },
    handler: async ({ deps, resource, owners }) => presentReplay(await retryIssue(deps, resource, owners)),
  }),
];

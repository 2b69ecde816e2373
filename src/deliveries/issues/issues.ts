import { shownOrg } from "../../accounts/access.ts";
import { notFound } from "../../lib/errors.ts";
import { type Issue, type IssueState, Issues } from "../../models/issue.ts";
import type { Replay } from "../../models/replay.ts";
import { listenerKindOf, Webhooks } from "../../models/webhook.ts";
import type { Queued, Stores } from "../../platform.ts";
import { type Page, type PageRequest, pageOf } from "../../store/page.ts";
import { requireWebhooks } from "../../webhooks/find.ts";
import { rejectDisabled } from "../manual-retry.ts";
import { startReplay } from "../replays/replays.ts";
import type { IssueFilter, IssueView } from "./schema.ts";

/** Returns an issue of one of these owners, otherwise null (docs/design.md#guarantee-6). */
async function findIssue(platform: Stores, id: string, owners: string[]): Promise<Issue | null> {
  return await Issues(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Issue | null>();
}

/** The access rule of routes whose path names an issue. */
export const ownIssue = { kind: "resource", what: "issue", load: findIssue } as const;

/** Returns issues as their account sees them, with the names that their listeners have now. */
export async function presentIssues({ mongo }: Stores, issues: Issue[]): Promise<IssueView[]> {
  const ids = [...new Set(issues.map(({ listener_id }) => listener_id))];
  const listeners = await Webhooks(mongo)
    .find({ _id: { $in: ids } }, { name: 1 })
    .lean();
  const nameOf = new Map(listeners.map(({ _id, name }) => [_id, name]));
  return issues.map(({ _id, owner_id, expires_at: _expires, listener_id, ...issue }) => ({
    id: _id,
    ...shownOrg(owner_id),
    listener_id,
    listener_name: nameOf.get(listener_id) ?? null,
    listener_kind: listenerKindOf(listener_id),
    ...issue,
  }));
}

/** Returns one issue as its account sees it. */
export async function presentIssue(platform: Stores, issue: Issue): Promise<IssueView> {
  const [shown] = await presentIssues(platform, [issue]);
  return shown as IssueView;
}

/**
 * Returns a page of an account's issues, those of its newest listeners first. Throws `not-found` for a listener of none of
 * these accounts.
 */
export async function listIssues(
  platform: Stores,
  { owner, owners }: { owner: string; owners: string[] },
  { state, listener_id }: IssueFilter,
  page: PageRequest,
): Promise<Page<IssueView>> {
  if (listener_id !== undefined) await requireWebhooks(platform, [listener_id], owners);
  const filter = {
    // A listener that is named may be of another of the accounts.
    ...(listener_id === undefined ? { owner_id: owner } : { listener_id }),
    ...(state && { state }),
  };
  const found = await pageOf(Issues(platform.mongo), filter, page);
  return { ...found, rows: await presentIssues(platform, found.rows) };
}

/**
 * Changes the state of an issue by hand, and returns it. To open it begins another episode; to acknowledge or resolve what is so
 * already keeps who did it first. Throws `not-found` if its listener has been deleted since.
 */
export async function setIssueState(
  { mongo, clock }: Stores,
  { _id }: Issue,
  { state, userId }: { state: IssueState; userId: string },
): Promise<Issue> {
  const now = clock();
  await Issues(mongo).updateOne({ _id, state: { $ne: state } }, { $set: changesTo(state, userId, now) });
  const changed = await Issues(mongo).findById(_id).lean<Issue | null>();
  if (!changed) throw notFound("issue");
  return changed;
}

function changesTo(state: IssueState, userId: string, nowMs: number): Partial<Issue> {
  const notResolved = { resolved_at_ms: null, resolved_by: null };
  switch (state) {
    case "open":
      return {
        ...{ state, ...notResolved, acknowledged_at_ms: null, acknowledged_by: null },
        ...{ opened_at_ms: nowMs, failed_since_opened: 0 },
      };
    case "acknowledged":
      return { state, ...notResolved, acknowledged_at_ms: nowMs, acknowledged_by: userId };
    case "resolved":
      return { state, resolved_at_ms: nowMs, resolved_by: userId };
  }
}

/**
 * Has a worker retry every delivery of an issue that has failed, as a replay. The issue stays as it is: it resolves itself, or
 * is resolved, once that helps. Throws `conflict` for a disabled listener, and as `startReplay`.
 */
export async function retryIssue(
  platform: Stores & Queued,
  { _id: issue_id, owner_id: owner, listener_id }: Issue,
  owners: string[],
): Promise<Replay> {
  const listener = await Webhooks(platform.mongo).findById(listener_id, { active: 1 }).lean();
  if (!listener) throw notFound("webhook");
  rejectDisabled(listener);
  // A worker of the release before knows no issues: the listener bounds what it retries.
  return await startReplay(
    platform,
    { owner, owners, where: "body" },
    { issue_id, webhook_id: listener_id, state: "failed" },
  );
}

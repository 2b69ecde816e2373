import { accountListsFor } from "../http/account-lists.ts";
import { page } from "../http/route.ts";
import type { Stores } from "../platform.ts";
import { listEntries } from "./entries.ts";
import { AuditEntryView, AuditFilter, exampleEntry } from "./schema.ts";

/** Who changed what of an account, from where (docs/rest-api.md#audit-log). */
export const auditRoutes = accountListsFor<Stores>()({
  things: "audit_log",
  tag: "Audit log",
  description:
    "What was changed, replayed or deleted, by whom and from where, the newest first; kept for 90 days. Reads are not in it, nor " +
    "rejected requests, nor events.",
  ofOwn:
    "Sessions and API keys of a user are in the user's own; what an organization owns is in that of the organization.",
  query: AuditFilter,
  response: page(200, AuditEntryView),
  example: exampleEntry,
  read: ({ deps, owner, query, page }) => listEntries(deps, owner, query, page),
});

import type { Schemas } from "../api/client";
import { usePaged } from "../api/paged";
import { inAccount, me } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { words } from "../lib/format";
import { Moment } from "../ui/basics";
import { DraftInput } from "../ui/draft-input";
import { Select } from "../ui/form";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { screenOf } from "../ui/thing";
import { Span, spanOf, whatIsGiven } from "./delivery-filters";

type Entry = Schemas["AuditEntry"];

/** All in the address, as those of deliveries. */
const FILTERS = ["of", "action", "actor_id", "thing_id", "hours", "since", "until"];

/** The thing as it was called then: a link while it is there. */
function ChangedThing({ thing }: Pick<Entry, "thing">) {
  if (thing === null) return <span class="muted">–</span>;
  const { id, name, exists } = thing;
  const screen = exists ? screenOf(id) : undefined;
  return screen === undefined ? (
    <span title={id}>{name ?? id}</span>
  ) : (
    <a href={screen} title={id}>
      {name ?? id}
    </a>
  );
}

/** "key “deploy script” (hw_0123…)", "dashboard": what somebody came with. */
function meansOf({ kind, name, prefix, signed_in_with }: Entry["actor"]): string {
  if (kind === "session") return signed_in_with === "openid" ? "dashboard, by the provider" : "dashboard";
  if (kind !== "api_key") return "";
  return ["key", name && `“${name}”`, prefix && `(${prefix}…)`].filter(Boolean).join(" ");
}

function whoOf({ kind, user_id, user_name }: Entry["actor"]): string {
  if (kind === "headwater") return "Headwater";
  return kind === "operator" ? "The operator" : (user_name ?? user_id ?? "");
}

const COLUMNS: Column<Entry>[] = [
  { head: "Time", cell: row => <Moment ms={row.at_ms} /> },
  {
    head: "Who",
    label: "by",
    cell: ({ actor }) => (
      <>
        <a
          class="in-text"
          href={to("/audit-log", { actor_id: actor.user_id ?? actor.kind })}
          title={actor.user_id ?? undefined}
        >
          {whoOf(actor)}
        </a>{" "}
        <span class="sub" title={actor.id ?? undefined}>
          {meansOf(actor)}
        </span>
      </>
    ),
  },
  {
    head: "What",
    cell: ({ action, fields, reason }) => (
      <>
        <a class="in-text" href={to("/audit-log", { action })} title={action}>
          {words(action)}
        </a>{" "}
        <span class="sub">{reason ?? fields.join(", ")}</span>
      </>
    ),
  },
  { head: "Thing", cell: row => <ChangedThing thing={row.thing} /> },
  {
    head: "From",
    label: "from",
    cell: ({ address, user_agent }) => (
      <span class="nowrap" title={user_agent ?? undefined}>
        {address ?? "–"}
      </span>
    ),
  },
];

const INSTALLATION = "installation";

/** Who changed, replayed or deleted what of the account, and from where; for operators, also what operators did to the installation. */
export function AuditLog() {
  const { filters, resource, read } = usePaged((cursor, call, query) => {
    const { of, action, actor_id, thing_id } = query;
    const wanted = { ...cursor, ...whatIsGiven({ action, actor_id, thing_id, ...spanOf(query) }) };
    return of === INSTALLATION
      ? inAccount().installationLog(wanted, call)
      : inAccount().auditLog(wanted, call);
  }, FILTERS);
  const field = (name: string, label: string, placeholder: string) => (
    <DraftInput
      class="input"
      aria-label={label}
      placeholder={placeholder}
      maxLength={256}
      value={filters.query[name] ?? ""}
      onCommit={({ value }) => filters.set({ [name]: value.trim() })}
    />
  );
  return (
    <ListScreen
      title="Audit log"
      about="Who changed, replayed or deleted what, and from where. Kept for 90 days."
      above={
        <search class="filters">
          {field("action", "Action", "Any action")}
          {field("actor_id", "User, key or session", "Anybody (id)")}
          {field("thing_id", "Thing", "Anything (id)")}
          <Span filters={filters} />
          {me.value?.is_operator && (
            <Select
              label="Log"
              isBare
              value={filters.query.of ?? ""}
              choices={[
                { value: "", label: "Of this account" },
                { value: INSTALLATION, label: "Of the installation" },
              ]}
              onChange={of => filters.set({ of })}
            />
          )}
        </search>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet icon="clock" title="No changes yet" command={apiCommand("/users/me/audit_log")}>
          Each change by a key, in the dashboard or by Headwater itself is listed here. Reads and events are
          not.
        </NothingYet>
      }
      columns={COLUMNS}
    />
  );
}

import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count } from "../lib/format";
import { Time } from "../ui/basics";
import { Select } from "../ui/form";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { Thing } from "../ui/thing";
import { ThingField } from "../ui/thing-field";
import { causeInWords, IssueActions, IssueState } from "./issue-parts";

const STATES = [
  { value: "open", label: "Open" },
  { value: "acknowledged", label: "Acknowledged" },
  { value: "resolved", label: "Resolved" },
];

/** Failures of deliveries by their cause: who knows of them, and how all of one are sent again. */
export function Issues() {
  const { filters, resource, read } = usePaged(
    (cursor, call, query) => {
      const { state, listener_id } = query;
      const wanted = {
        ...(state && { state: state as "open" }),
        ...(listener_id && { listener_id }),
      };
      return inAccount().issues.list({ ...cursor, ...wanted }, call);
    },
    ["state", "listener_id"],
  );
  useFresh(resource, { on: ["deliveries"] });
  return (
    <ListScreen
      title="Issues"
      about="Failures of deliveries, one line for each listener and cause. A resolved one is open again with the next failure."
      above={
        <search class="filters">
          <Select
            label="State"
            isBare
            value={filters.query.state ?? ""}
            choices={[{ value: "", label: "Any state" }, ...STATES]}
            onChange={state => filters.set({ state })}
          />
          <ThingField
            aria-label="Listener"
            placeholder="Any listener"
            kinds={["wh", "ds", "ac"]}
            value={filters.query.listener_id ?? ""}
            onChange={id => filters.set({ listener_id: id })}
          />
        </search>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet icon="check" title="No issues" command={apiCommand("/users/me/issues")}>
          An issue begins with the first failed attempt, and is gone 90 days after the last.
        </NothingYet>
      }
      columns={[
        {
          head: "Cause",
          cell: row => (
            <>
              <strong>{causeInWords(row.cause)}</strong>
              <div class="sub reason">{row.last_error}</div>
            </>
          ),
        },
        {
          head: "Listener",
          label: "at",
          cell: row => <Thing id={row.listener_id} name={row.listener_name} />,
        },
        { head: "State", cell: row => <IssueState state={row.state} /> },
        {
          head: "Attempts",
          isNumber: true,
          cell: row => (
            <>
              {count(row.count)}
              <div class="sub nowrap">{count(row.failed_deliveries)} for good</div>
            </>
          ),
        },
        {
          head: "Last seen",
          label: true,
          cell: row => (
            <>
              <a
                href={to(`/deliveries/${row.last_delivery_id}`)}
                title="The delivery, with the run of its event"
              >
                <Time ms={row.last_seen_ms} />
              </a>
              <div class="sub nowrap">
                since <Time ms={row.opened_at_ms} />
              </div>
            </>
          ),
        },
        {
          head: "",
          class: "issue-actions",
          cell: row => <IssueActions issue={row} onChange={resource.reload} />,
        },
      ]}
    />
  );
}

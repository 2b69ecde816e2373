import type { Schemas } from "../api/client";
import { Badge } from "../ui/basics";
import type { Column } from "../ui/table";
import { FunctionBadge } from "./subscription";

type SubscriptionColumn = Column<Schemas["Subscription"]>;

export const CHANNEL: SubscriptionColumn = {
  head: "Channel",
  cell: row => <Badge isPlain>{row.event_name || "default"}</Badge>,
};

/** What a subscription leaves out and changes. */
export const RULES: SubscriptionColumn[] = [
  {
    head: "Filter",
    class: "filter-cell",
    cell: row =>
      row.filter ? <code>{JSON.stringify(row.filter)}</code> : <span class="muted">all events</span>,
  },
  { head: "Function", cell: row => <FunctionBadge subscription={row} /> },
];

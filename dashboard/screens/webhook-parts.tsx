import type { Schemas } from "../api/client";
import { Time } from "../ui/basics";
import { BY_MOMENT, sortOf } from "../ui/list-filters";
import type { Column } from "../ui/table";

type Webhook = Schemas["Webhook"];
type LastTimes = Pick<Webhook, "last_event_at" | "last_success_at" | "last_error_at">;

/** When something last happened to a thing. */
export const LAST_TIMES: Column<LastTimes>[] = [
  { head: "Last event", label: true, cell: row => <Time seconds={row.last_event_at} /> },
  { head: "Last success", label: true, cell: row => <Time seconds={row.last_success_at} /> },
  { head: "Last error", label: true, cell: row => <Time seconds={row.last_error_at} /> },
];

/** What narrows a list of webhooks or destinations, by its name in the address. */
export const RECEIVER_FILTERS = ["q", "state"];
export const RECEIVER_STATES = { active: "Active", failing: "Failing", disabled: "Disabled" };

/** What the API takes of these filters, and of the order. A state that is none is left out. */
export const receiverFilter = ({ q, state = "", sort }: Record<string, string>) => ({
  ...(q && { q }),
  ...sortOf(sort, BY_MOMENT),
  ...(state in RECEIVER_STATES && { state: state as keyof typeof RECEIVER_STATES }),
});

export const SCHEDULE_HINT =
  "After the first, second, … failed attempt; none for no retries; empty for the server's.";
export const TIMEOUT_HINT = "1 to 60, and at most what the server allows; empty for the server's.";

import { me } from "../api/session";
import type { useFilters } from "../lib/address";
import { fromLocal, toLocal, unixOf } from "../lib/moments";
import { Button } from "../ui/basics";
import { DraftInput } from "../ui/draft-input";
import { Select } from "../ui/form";
import { ThingField } from "../ui/thing-field";

type Filters = ReturnType<typeof useFilters>;

/** All in the address. `since` and `until` are moments such as `2026-11-23T10:00:00Z`, which `hours` replaces. */
export const DELIVERY_FILTERS = [
  "state",
  "issue_id",
  "event_id",
  "webhook_id",
  "emitter_id",
  "event_name",
  "status",
  "hours",
  "since",
  "until",
  "text",
];
const HOUR_S = 3600;

/** What the API takes of the filters in the address. A moment that is none is left to the API, which says so. */
export function wanted(query: Record<string, string | undefined>): Record<string, string | number> {
  const { state, issue_id, event_id, webhook_id, emitter_id, event_name, status, text } = query;
  const all = {
    ...{ state, issue_id, event_id, webhook_id, emitter_id, event_name, status, text },
    ...spanOf(query),
  };
  return whatIsGiven(all);
}

/** What the API takes of `hours`, `since` and `until` in the address. */
export function spanOf({ hours, since, until }: Record<string, string | undefined>) {
  const relative = Number(hours) > 0 ? Math.floor(Date.now() / 1000) - Number(hours) * HOUR_S : undefined;
  return { since: relative ?? unixOf(since), until: unixOf(until) };
}

/** Leaves out the filters that are not set. */
export function whatIsGiven(
  all: Record<string, string | number | undefined>,
): Record<string, string | number> {
  const given = Object.entries(all).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as Record<string, string | number>;
}

/** The fields that narrow the list of deliveries. */
export const DeliveryFilters = ({ filters }: { filters: Filters }) => (
  <search class="filters">
    <StateFilter filters={filters} />
    <ThingField
      aria-label="Webhook"
      placeholder="Any webhook"
      kinds={["wh", "ds", "ac"]}
      value={filters.query.webhook_id ?? ""}
      onChange={id => filters.set({ webhook_id: id })}
    />
    <ThingField
      aria-label="Emitter"
      placeholder="Any emitter"
      kinds={["dc", "p"]}
      value={filters.query.emitter_id ?? ""}
      onChange={id => filters.set({ emitter_id: id })}
    />
    <Status filters={filters} />
    <Span filters={filters} />
    <DraftInput
      class="input"
      aria-label="Channel"
      placeholder="Any channel"
      value={filters.query.event_name ?? ""}
      onCommit={field => filters.set({ event_name: field.value })}
    />
    <Words filters={filters} />
    <OneOnly filters={filters} name="issue_id" label="Of one issue" />
    <OneOnly filters={filters} name="event_id" label="Of one event" />
  </search>
);

/** A filter that a link brings along, and that can only be removed. */
const OneOnly = ({ filters, name, label }: { filters: Filters; name: string; label: string }) =>
  filters.query[name] ? (
    <Button isSmall icon="x" onClick={() => filters.set({ [name]: undefined })}>
      {label}
    </Button>
  ) : null;

/** Disabled, and it says why, where the server searches no payloads; a search in the address can be removed all the same. */
function Words({ filters }: { filters: Filters }) {
  const text = filters.query.text ?? "";
  const isOffered = me.value?.features.payload_search === true;
  const about = isOffered
    ? "Whole words, such as order-17 or ada@example.com"
    : "This server searches no payloads: its operator can turn it on with PAYLOAD_SEARCH_WORDS.";
  return (
    <DraftInput
      class="input"
      type="search"
      aria-label="Words in the payload"
      aria-description={about}
      placeholder={isOffered ? "Payload words" : "Payload search is off"}
      title={about}
      disabled={!isOffered && text === ""}
      maxLength={200}
      value={text}
      onCommit={field => filters.set({ text: field.value.trim() })}
    />
  );
}

const STATES = ["pending", "delivered", "failed", "cancelled"];

/** The state in the address, one that no delivery has included. */
export function StateFilter({ filters }: { filters: Filters }) {
  const { state = "" } = filters.query;
  const states = STATES.includes(state) || state === "" ? STATES : [...STATES, state];
  return (
    <Select
      label="State"
      isBare
      value={state}
      choices={[{ value: "", label: "Any state" }, ...states.map(one => ({ value: one, label: one }))]}
      onChange={chosen => filters.set({ state: chosen })}
    />
  );
}

/** A status, a class of them, or none; what is neither is said by the browser, and not searched. */
const Status = ({ filters }: { filters: Filters }) => (
  <>
    <DraftInput
      class="input"
      aria-label="Response"
      placeholder="Any response"
      title="A status such as 503, a class such as 5xx, or none"
      list="statuses"
      pattern="[1-5]([0-9]{2}|[xX]{2})|none"
      value={filters.query.status ?? ""}
      onCommit={field => {
        if (field.reportValidity()) filters.set({ status: field.value.toLowerCase() });
      }}
    />
    <datalist id="statuses">
      {["2xx", "3xx", "4xx", "5xx"].map(one => (
        <option key={one} value={one} />
      ))}
      <option value="none">no response</option>
    </datalist>
  </>
);

const BETWEEN = "between";
const SPANS = [
  { value: "", label: "Any time" },
  { value: "1", label: "last hour" },
  { value: "24", label: "last 24 hours" },
  { value: "168", label: "last 7 days" },
  { value: "720", label: "last 30 days" },
  { value: BETWEEN, label: "from … to …" },
];

/** The last hours or days, or from one moment to another. */
export function Span({ filters }: { filters: Filters }) {
  const { hours, since, until } = filters.query;
  const isBetween = hours === BETWEEN || Boolean(since || until);
  return (
    <>
      <Select
        label="Time"
        isBare
        value={isBetween ? BETWEEN : (hours ?? "")}
        choices={SPANS}
        onChange={chosen => filters.set({ hours: chosen, since: undefined, until: undefined })}
      />
      {isBetween && (
        <>
          <Moment name="since" label="From" filters={filters} />
          <Moment name="until" label="To" filters={filters} />
        </>
      )}
    </>
  );
}

/** A date and time in the reader's zone. */
const Moment = ({ name, label, filters }: { name: string; label: string; filters: Filters }) => (
  <DraftInput
    class="input moment"
    type="datetime-local"
    aria-label={label}
    step={1}
    value={toLocal(filters.query[name])}
    onCommit={field => filters.set({ hours: BETWEEN, [name]: fromLocal(field.value) })}
  />
);

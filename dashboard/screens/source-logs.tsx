import { useFilters } from "../lib/address";
import { Select } from "../ui/form";
import { NothingMatches, NothingYet } from "../ui/states";
import { EventRow, LiveControls, NoRows, Waiting } from "./event-list";
import { useLiveRows } from "./live-rows";

const LEVELS = ["error", "warn", "info", "log", "debug"];

/** What a source printed and threw, as it happens. */
export function Logs({ id }: { id: string }) {
  const filters = useFilters(["level"]);
  const { level = "" } = filters.query;
  const live = useLiveRows(id, ["error", "log"]);
  const shown = live.rows.filter(
    ({ metadata, event }) =>
      level === "" ||
      (level === "error" ? metadata.name === "$errors" || event.level === "error" : event.level === level),
  );
  return (
    <section class="card">
      <div class="card-head">
        <h2>Logs and errors</h2>
        <Select
          label="Level"
          isBare
          value={level}
          choices={[{ value: "", label: "All levels" }, ...LEVELS.map(one => ({ value: one, label: one }))]}
          onChange={chosen => filters.set({ level: chosen })}
        />
        <LiveControls live={live} />
      </div>
      <Waiting live={live} />
      <NoRows live={live} />
      {live.stored.data !== undefined && live.rows.length === 0 && (
        <NothingYet
          icon="code"
          title="Nothing logged"
          command={`console.log("order", order.id);   // a line here\nthrow new Error("no order");      // an error here`}
        >
          What the code prints, and errors that it throws, appear here in one order:
        </NothingYet>
      )}
      {live.rows.length > 0 && shown.length === 0 && <NothingMatches onClear={filters.clear} />}
      <ol class="events" aria-label="Logs and errors">
        {shown.map(row => (
          <EventRow key={`${row.metadata.name}${row.id}`} row={row} />
        ))}
      </ol>
    </section>
  );
}

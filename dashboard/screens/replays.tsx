import { listReplays, type Replay, stopReplay } from "../api/calls";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count, exactTime, words } from "../lib/format";
import { Badge, Button, Time, type Tone } from "../ui/basics";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";

const TONES: Partial<Record<Replay["state"], Tone>> = {
  running: "info",
  done: "good",
  stopped: "warn",
  failed: "bad",
};

/** What a replay was of, as the filters of the list of deliveries. */
const filterOf = ({ filter }: Replay): [name: string, value: string][] =>
  Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const isMoment = name === "since" || name === "until";
    return [[name, isMoment ? new Date(1000 * Number(value)).toISOString() : String(value)]];
  });

/** "state failed, since Nov 14, 2023". */
const filterInWords = (replay: Replay): string =>
  filterOf(replay)
    .map(([name, value]) => {
      const shown = name === "since" || name === "until" ? exactTime(Date.parse(value)) : value;
      return `${words(name).toLowerCase()} ${shown}`;
    })
    .join(", ") || "all deliveries";

/** The replays of the last week: what was sent again, and how far it is. */
export function Replays() {
  const { filters, resource, read } = usePaged(async (cursor, call) => {
    const { data, page_info } = await listReplays(cursor, call);
    return { page_info, data: data.map(row => ({ ...row, id: row.id ?? "" })) };
  });
  useFresh(resource, { on: ["deliveries"] });
  return (
    <ListScreen
      title="Replays"
      about="What was sent again by a filter, in the last 7 days, and how far each is."
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="refresh"
          title="No replays"
          command={apiCommand("/replays", { method: "POST", body: { webhook_id: "wh_…", state: "failed" } })}
        >
          A replay sends again what a filter of the deliveries selects:
        </NothingYet>
      }
      columns={[
        {
          head: "State",
          cell: row => (
            <>
              <Badge tone={TONES[row.state] ?? "none"}>{words(row.state)}</Badge>
              {row.reason && <div class="sub">{row.reason}</div>}
            </>
          ),
        },
        {
          head: "Of",
          label: true,
          cell: row => (
            <a class="thing" href={to("/deliveries", Object.fromEntries(filterOf(row)))}>
              {filterInWords(row)}
            </a>
          ),
        },
        {
          head: "Sent",
          isNumber: true,
          cell: row => `${count(row.replayed)} of ${count(row.count)}${row.count_is_exact ? "" : "+"}`,
        },
        { head: "Skipped", isNumber: true, cell: row => count(row.skipped) },
        { head: "Started", label: true, cell: row => <Time seconds={row.created_at ?? null} /> },
        {
          head: "",
          cell: row =>
            row.state === "running" && (
              <div class="row end">
                <Button
                  changes
                  isSmall
                  onClick={async () => {
                    await stopReplay(row.id);
                    resource.reload();
                  }}
                >
                  Stop
                </Button>
              </div>
            ),
        },
      ]}
    />
  );
}

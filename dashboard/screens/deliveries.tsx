import { useEffect, useState } from "preact/hooks";
import { listDeliveries, type Replay, readReplay, startReplay, stopReplay } from "../api/calls";
import type { Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { loadNames, names } from "../api/names";
import { useResource } from "../api/resource";
import { inAccount, orgId } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count, counted } from "../lib/format";
import { Button, LinkButton, Notice, Page } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { DeliveryTable } from "./delivery-parts";

const FILTERS = ["state", "webhook_id", "emitter_id", "event_name", "status", "hours", "text"];
const HOUR_S = 3600;
type Delivery = Schemas["Delivery"];

/** What the API takes of the filters in the address. */
function wanted(query: Record<string, string>): Record<string, string | number> {
  const { state, webhook_id, emitter_id, event_name, status, hours, text } = query;
  const since = Number(hours) > 0 ? Math.floor(Date.now() / 1000) - Number(hours) * HOUR_S : undefined;
  const all = { state, webhook_id, emitter_id, event_name, status, text, since };
  const given = Object.entries(all).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as Record<string, string | number>;
}

export function Deliveries() {
  const filters = useFilters(FILTERS);
  const { query } = filters;
  const { after, before } = query;
  const [isReplaying, setReplaying] = useState(false);
  const key = FILTERS.map(name => query[name]).join("\0");
  const resource = useResource(
    signal => listDeliveries({ ...wanted(query), ...inAccount(), limit: 25, after, before }, signal),
    [key, after, before],
  );
  useEffect(loadNames, []);
  useLiveDeliveries(resource, !after && !before);
  const webhooks = Object.entries(names.value).filter(([id]) => id.startsWith("wh_"));
  const emitters = Object.entries(names.value).filter(([id]) => /^(dc|p)_/.test(id));
  return (
    <Page
      title="Deliveries"
      about="Each event on its way to a webhook: what was sent, what came back, what is retried."
      actions={
        <Button icon="refresh" onClick={() => setReplaying(true)}>
          Replay these …
        </Button>
      }
    >
      <search class="filters">
        <Pick
          name="state"
          label="State"
          filters={filters}
          choices={["pending", "delivered", "failed", "cancelled"].map(one => [one, one])}
        />
        <Pick name="webhook_id" label="Webhook" filters={filters} choices={webhooks} />
        <Pick name="emitter_id" label="Emitter" filters={filters} choices={emitters} />
        <Pick
          name="status"
          label="Response"
          filters={filters}
          choices={[
            ["2xx", "2xx"],
            ["4xx", "4xx"],
            ["5xx", "5xx"],
            ["none", "no response"],
          ]}
        />
        <Pick
          name="hours"
          label="Time"
          filters={filters}
          choices={[
            ["1", "last hour"],
            ["24", "last 24 hours"],
            ["168", "last 7 days"],
          ]}
        />
        <input
          class="input"
          aria-label="Channel"
          placeholder="Channel"
          value={query.event_name ?? ""}
          onChange={event => filters.set({ event_name: event.currentTarget.value })}
        />
        <input
          class="input"
          type="search"
          aria-label="Words in the payload"
          placeholder="Words in the payload"
          title="Whole words, such as order-17 or ada@example.com"
          maxLength={200}
          value={query.text ?? ""}
          onChange={event => filters.set({ text: event.currentTarget.value.trim() })}
        />
      </search>
      <section class="card">
        <List
          resource={resource}
          filters={filters}
          empty={
            <NothingYet
              icon="send"
              title="Nothing was delivered yet"
              command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
              action={
                <LinkButton href={to("/start")} kind="primary" icon="play">
                  Watch a first event
                </LinkButton>
              }
            >
              A delivery is made for each event that a subscription carries to a webhook. This command
              subscribes a webhook to a source:
            </NothingYet>
          }
        >
          {rows => <DeliveryTable rows={rows} />}
        </List>
      </section>
      {isReplaying && <ReplayDialog filter={wanted(query)} onClose={() => setReplaying(false)} />}
    </Page>
  );
}

interface PickProps {
  name: string;
  label: string;
  choices: [string, string][] | string[][];
  filters: ReturnType<typeof useFilters>;
}

function Pick({ name, label, choices, filters }: PickProps) {
  const value = filters.query[name] ?? "";
  const isKnown = value === "" || choices.some(([one]) => one === value);
  return (
    <select
      class="select"
      aria-label={label}
      value={value}
      onChange={event => filters.set({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: any</option>
      {choices.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  );
}

/** Changes rows that are shown as they change, and loads the list again for new ones, at most twice a second. */
export function useLiveDeliveries(
  resource: ReturnType<typeof useResource<{ page_info: Schemas["PageInfo"]; data: Delivery[] }>>,
  isFirstPage: boolean,
  isOurs: (delivery: Delivery) => boolean = () => true,
): void {
  const soon = useReloadSoon(resource);
  useLive(
    { deliveries: true, org: orgId.value },
    {
      onDelivery: delivery => {
        if (!isOurs(delivery)) return;
        const isShown = resource.data?.data.some(one => one.id === delivery.id);
        if (isShown || isFirstPage) soon();
      },
      onSkipped: () => soon(),
      onReady: () => soon(),
    },
  );
}

const POLL_MS = 1000;

interface ReplayDialogProps {
  /** Those of the moment when the dialog opens: what was counted is what is sent. */
  filter: Record<string, string | number>;
  onClose: () => void;
}

/** Counts what the present filters match, and sends all of it again, over all pages. */
function ReplayDialog({ filter: given, onClose }: ReplayDialogProps) {
  const [filter] = useState(given);
  const counting = useResource(() => startReplay({ ...filter, ...inAccount(), dry_run: true }), []);
  const [replay, setReplay] = useState<Replay | null>(null);
  useEffect(() => {
    if (replay?.id == null || replay.state !== "running") return;
    const timer = setTimeout(
      // Another object where it failed, so that it is asked again.
      async () => setReplay(await readReplay(replay.id ?? "").catch(() => ({ ...replay }))),
      POLL_MS,
    );
    return () => clearTimeout(timer);
  }, [replay]);
  const found = counting.data;
  return (
    <Dialog title="Replay by filter" onClose={onClose}>
      {counting.error !== undefined && (
        <Notice tone="bad">{String((counting.error as Error).message)}</Notice>
      )}
      {!replay && (
        <p>
          {found
            ? `${found.count_is_exact ? "" : "About "}${counted(found.count, "delivery").replace("deliverys", "deliveries")} match these filters. Each is sent again under its own id, at the pace of its webhook.`
            : counting.error === undefined && "Counting …"}
        </p>
      )}
      {replay && (
        <div class="stack tight" role="status">
          <p>
            {count(replay.replayed)} of {count(replay.count)} are on their way
            {replay.skipped > 0 && `, ${count(replay.skipped)} could not be sent`}.
          </p>
          {replay.reason && <Notice tone="bad">It ended early: {replay.reason}.</Notice>}
          <div class="meter">
            <div
              style={{
                width: `${replay.count ? (100 * (replay.replayed + replay.skipped)) / replay.count : 100}%`,
              }}
            />
          </div>
        </div>
      )}
      <div class="row end">
        {replay?.state === "running" && (
          <Button onClick={async () => replay.id && (await stopReplay(replay.id))}>Stop</Button>
        )}
        <Button onClick={onClose}>{replay ? "Close" : "Cancel"}</Button>
        {!replay && (
          <Button
            kind="primary"
            isDisabled={!found || found.count === 0}
            onClick={async () => setReplay(await startReplay({ ...filter, ...inAccount() }))}
          >
            {found ? `Replay ${count(found.count)}` : "Replay"}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

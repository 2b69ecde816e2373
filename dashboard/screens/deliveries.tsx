import { useEffect, useState } from "preact/hooks";
import { type Replay, readReplay, startReplay, stopReplay } from "../api/calls";
import { type Page as ListPage, messageOf, type Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { useResource } from "../api/resource";
import { inAccount, orgId } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count, counted } from "../lib/format";
import { Button, LinkButton, Notice, Page } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { DELIVERY_FILTERS, DeliveryFilters, wanted } from "./delivery-filters";
import { DeliveryTable } from "./delivery-parts";

type Delivery = Schemas["Delivery"];

export function Deliveries() {
  const filters = useFilters(DELIVERY_FILTERS);
  const { query } = filters;
  const { after, before } = query;
  const [isReplaying, setReplaying] = useState(false);
  const key = DELIVERY_FILTERS.map(name => query[name]).join("\0");
  const resource = useResource(
    call => inAccount().deliveries.list({ ...wanted(query), limit: 25, after, before }, call),
    [key, after, before],
  );
  useLiveDeliveries(resource, !after && !before);
  return (
    <Page
      title="Deliveries"
      about="Each event on its way to a webhook or a destination: what was sent, what came back, what is retried."
      actions={
        <Button icon="refresh" onClick={() => setReplaying(true)}>
          Replay these …
        </Button>
      }
    >
      <DeliveryFilters filters={filters} />
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

/** Changes rows that are shown as they change, and loads the list again for new ones, at most twice a second. */
export function useLiveDeliveries(
  resource: ReturnType<typeof useResource<ListPage<Delivery>>>,
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
  const counting = useResource(call => startReplay({ ...filter, dry_run: true }, call), []);
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
      {counting.error !== undefined && <Notice tone="bad">{messageOf(counting.error)}</Notice>}
      {!replay && (
        <p>
          {found
            ? `${found.count_is_exact ? "" : "About "}${counted(found.count, "delivery matches", "deliveries match")} these filters. Each is sent again under its own id, at the pace of its webhook.`
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
            onClick={async () => setReplay(await startReplay(filter))}
          >
            {found ? `Replay ${count(found.count)}` : "Replay"}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isSignedOut, probe, type Schemas } from "./client";

/** What a screen wants to see as it happens. */
interface Wish {
  emitters?: string[];
  deliveries?: boolean;
  runs?: boolean;
  org?: string | null;
}

interface Handlers {
  onSummary?: (kind: "emit" | "error" | "log", summary: Schemas["EventSummary"]) => unknown;
  onDelivery?: (delivery: Schemas["Delivery"]) => unknown;
  onRun?: (run: Schemas["Run"]) => unknown;
  /** The stream began, or began again after a pause: deliveries and runs were missed, and events perhaps. */
  onReady?: () => unknown;
  /** There were more deliveries or runs than were sent. */
  onSkipped?: () => unknown;
}

type State = "off" | "connecting" | "live" | "ended";

/** What the one stream of this tab is doing. */
export const liveState = signal<State>("off");

const listeners = new Set<{ wish: Wish; handlers: () => Handlers }>();
let stream: EventSource | null = null;
let address = "";
let isScheduled = false;
const RETRY_MS = 3000;
let retry: ReturnType<typeof setTimeout> | undefined;

/** One address for everything that is wanted: browsers allow six connections per host. */
function addressOf(): string {
  const wishes = [...listeners].map(one => one.wish);
  if (wishes.length === 0 || document.hidden) return "";
  const query = new URLSearchParams();
  const emitters = [...new Set(wishes.flatMap(one => one.emitters ?? []))].sort().slice(0, 20);
  if (emitters.length > 0) query.set("emitters", emitters.join(","));
  if (wishes.some(one => one.deliveries)) query.set("deliveries", "true");
  if (wishes.some(one => one.runs)) query.set("runs", "true");
  const org = wishes.find(one => one.org)?.org;
  if (org) query.set("org_id", org);
  return query.has("emitters") || query.has("deliveries") || query.has("runs") ? `/v1/live?${query}` : "";
}

/** Once for all changes of one rendering. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  queueMicrotask(() => {
    isScheduled = false;
    connect();
  });
}

function connect(): void {
  const wanted = addressOf();
  if (wanted === address && stream?.readyState !== EventSource.CLOSED) return;
  clearTimeout(retry);
  stream?.close();
  address = wanted;
  stream = null;
  liveState.value = wanted === "" ? "off" : "connecting";
  if (wanted !== "") stream = open(wanted);
}

function open(url: string): EventSource {
  const opened = new EventSource(url);
  const each = (act: (handlers: Handlers) => void) => {
    for (const one of listeners) act(one.handlers());
  };
  const on = <Data>(name: string, act: (data: Data) => void) =>
    opened.addEventListener(name, event => act(JSON.parse((event as MessageEvent<string>).data) as Data));
  on("ready", () => {
    liveState.value = "live";
    each(one => one.onReady?.());
  });
  for (const kind of ["emit", "error", "log"] as const) {
    // The connection's own `error` has no data.
    opened.addEventListener(kind, event => {
      if (!(event instanceof MessageEvent)) return;
      const summary = JSON.parse(event.data as string) as Schemas["EventSummary"];
      each(one => one.onSummary?.(kind, summary));
    });
  }
  on<Schemas["Delivery"]>("delivery", delivery => each(one => one.onDelivery?.(delivery)));
  on<Schemas["Run"]>("run", run => each(one => one.onRun?.(run)));
  on("skipped", () => each(one => one.onSkipped?.()));
  on<{ reason: string }>("end", ({ reason }) => {
    opened.close();
    liveState.value = "ended";
    if (reason === "session-ended" || reason === "key-revoked") isSignedOut.value = true;
  });
  opened.onerror = event => {
    if (event instanceof MessageEvent || opened !== stream || liveState.value === "ended") return;
    liveState.value = "connecting";
    // A page that nobody touches sends no request that would fail.
    void probe();
    // A response outside 2xx ends it for good, unless somebody asks again.
    if (opened.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MS);
  };
  return opened;
}

document.addEventListener("visibilitychange", schedule);

/** Streams what `wish` names to the handlers while the component is shown and the tab is visible. */
export function useLive(wish: Wish | null, handlers: Handlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const key = JSON.stringify(wish);
  useEffect(() => {
    if (wish === null) return;
    const one = { wish, handlers: () => latest.current };
    listeners.add(one);
    schedule();
    return () => {
      listeners.delete(one);
      schedule();
    };
  }, [key]);
}

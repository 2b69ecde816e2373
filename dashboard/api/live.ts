import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import {
  clientOf,
  HeadwaterError,
  isSignedOut,
  type LiveMessage,
  probe,
  type Schemas,
  StreamEndedError,
} from "./client";

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
/** Ends the stream that is open. */
let stream: AbortController | null = null;
/** What is streamed, as a text that can be compared; null after it failed. */
let streamed: string | null = "";
let isScheduled = false;
const RETRY_MS = 3000;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Everything that is wanted, for one stream: browsers allow six connections per host. Null if that is nothing. */
function wholeWish(): Required<Wish> | null {
  const wishes = document.hidden ? [] : [...listeners].map(one => one.wish);
  const whole = {
    emitters: [...new Set(wishes.flatMap(one => one.emitters ?? []))].sort().slice(0, 20),
    deliveries: wishes.some(one => one.deliveries),
    runs: wishes.some(one => one.runs),
    org: wishes.find(one => one.org)?.org ?? null,
  };
  return whole.emitters.length > 0 || whole.deliveries || whole.runs ? whole : null;
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
  const wish = wholeWish();
  const wanted = wish === null ? "" : JSON.stringify(wish);
  if (wanted === streamed) return;
  clearTimeout(retry);
  stream?.abort();
  stream = null;
  streamed = wanted;
  liveState.value = wish === null ? "off" : "connecting";
  if (wish === null) return;
  stream = new AbortController();
  void follow(wish, stream.signal);
}

/** Hands over what happens until `signal` aborts. */
async function follow({ org, ...wish }: Required<Wish>, signal: AbortSignal): Promise<void> {
  const onLost = () => {
    liveState.value = "connecting";
    // A page that nobody touches sends no request that would fail.
    void probe();
  };
  try {
    for await (const message of clientOf(org).watch({ ...wish, signal, onLost })) handOver(message);
  } catch (error) {
    if (signal.aborted) return;
    // Somebody may ask for the same again.
    streamed = null;
    if (error instanceof StreamEndedError) {
      liveState.value = "ended";
      if (error.reason === "session-ended" || error.reason === "key-revoked") isSignedOut.value = true;
      return;
    }
    onLost();
    retry = setTimeout(connect, RETRY_MS);
    if (!(error instanceof HeadwaterError)) throw error;
  }
}

function handOver(message: LiveMessage): void {
  if (message.type === "ready") liveState.value = "live";
  for (const { handlers } of listeners) {
    const { onReady, onSummary, onDelivery, onRun, onSkipped } = handlers();
    switch (message.type) {
      case "ready":
        onReady?.();
        break;
      case "delivery":
        onDelivery?.(message.delivery);
        break;
      case "run":
        onRun?.(message.run);
        break;
      case "skipped":
        onSkipped?.();
        break;
      default:
        onSummary?.(message.type, message.summary);
    }
  }
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

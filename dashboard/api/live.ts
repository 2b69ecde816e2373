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
import { SharedStream, type StreamNews, type StreamWish } from "./shared-stream";

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

/** What the stream of this tab's account is doing. */
export const liveState = signal<State>("off");

const listeners = new Set<{ wish: Wish; handlers: () => Handlers }>();
/** What was wished last, as a text that can be compared. */
let wished = "";
let isScheduled = false;

/** Everything that is wanted in this tab; null if that is nothing. */
function wholeWish(): StreamWish | null {
  const wishes = document.hidden ? [] : [...listeners].map(one => one.wish);
  const whole = {
    emitters: [...new Set(wishes.flatMap(one => one.emitters ?? []))].sort(),
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
    const wish = wholeWish();
    const text = JSON.stringify(wish);
    // After the stream has ended, somebody may ask for the same again.
    if (text === wished && liveState.value !== "ended") return;
    wished = text;
    liveState.value = wish === null ? "off" : "connecting";
    stream.setWish(wish);
  });
}

const stream = new SharedStream(follow, take);

/** Streams until `signal` aborts, and tells what happens. */
async function follow(
  { org, ...wish }: StreamWish,
  signal: AbortSignal,
  tell: (news: StreamNews) => void,
): Promise<"again" | "ended"> {
  const onLost = () => {
    tell({ type: "state", state: "connecting" });
    // A page that nobody touches sends no request that would fail.
    void probe();
  };
  try {
    for await (const message of clientOf(org).watch({ ...wish, signal, onLost }))
      tell({ type: "message", message });
  } catch (error) {
    if (signal.aborted) return "ended";
    if (error instanceof StreamEndedError) {
      tell({ type: "ended", reason: error.reason });
      return "ended";
    }
    onLost();
    if (!(error instanceof HeadwaterError)) reportError(error);
  }
  return "again";
}

function take(news: StreamNews): void {
  if (news.type === "message") {
    handOver(news.message);
  } else if (news.type === "state") {
    liveState.value = news.state;
  } else {
    liveState.value = "ended";
    if (news.reason === "session-ended" || news.reason === "key-revoked") isSignedOut.value = true;
  }
}

function handOver(message: LiveMessage): void {
  liveState.value = "live";
  for (const { wish, handlers } of listeners) {
    const { onReady, onSummary, onDelivery, onRun, onSkipped } = handlers();
    switch (message.type) {
      case "ready":
        onReady?.();
        break;
      case "delivery":
        if (wish.deliveries) onDelivery?.(message.delivery);
        break;
      case "run":
        if (wish.runs) onRun?.(message.run);
        break;
      case "skipped":
        onSkipped?.();
        break;
      default:
        // Another tab may watch other emitters.
        if (wish.emitters?.includes(message.summary.metadata.emitter_id))
          onSummary?.(message.type, message.summary);
    }
  }
}

document.addEventListener("visibilitychange", schedule);
// A page that Back shows again had taken its wish back.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  wished = "";
  schedule();
});

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

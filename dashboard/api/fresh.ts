import { useCallback, useEffect, useRef } from "preact/hooks";
import { orgId } from "../lib/shown-account";
import { useLive } from "./live";
import type { Resource } from "./resource";

type Reloadable = Pick<Resource<unknown>, "data" | "isLoading" | "reload">;

/** How soon something is loaded again while much happens. */
interface Pace {
  /** At the earliest this long after it was loaded. */
  everyMs: number;
  /** How far behind the server is: what happened so shortly before a request is loaded once more. */
  behindMs: number;
}

/** Rows are stored before the stream tells of them. */
export const ROWS: Pace = { everyMs: 0, behindMs: 0 };
/** Each process adds its counts to those of the hour every five seconds. */
const COUNTS: Pace = { everyMs: 5000, behindMs: 5500 };
/** News come in groups: a request waits a moment for the rest. */
const GATHER_MS = 600;
/** Not everything is in the stream, such as what another member of an organization made. */
const LOOK_MS = 30_000;

/**
 * Returns a function that loads what is shown again soon, after something happened. It is called as often as one likes: no
 * request is sent while one is on its way, or while the tab is hidden.
 */
export function useReloadSoon(
  resource: Reloadable,
  { everyMs, behindMs }: Pace = ROWS,
): (newsAt?: number) => void {
  const latest = useRef(resource);
  latest.current = resource;
  const progress = useRef({ isDue: false, newsAt: 0, loadedAt: 0 });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const plan = useCallback(() => {
    const its = progress.current;
    if (!its.isDue || latest.current.isLoading) return;
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        // Once the tab is shown, the stream begins again, which is news.
        if (document.hidden || latest.current.isLoading) return;
        its.isDue = Date.now() - its.newsAt < behindMs;
        // What never loaded is loaded when the reader asks for it.
        if (latest.current.data !== undefined) latest.current.reload();
      },
      Math.max(GATHER_MS, its.loadedAt + everyMs - Date.now()),
    );
  }, []);
  useEffect(() => {
    if (resource.isLoading) return;
    progress.current.loadedAt = Date.now();
    plan();
  }, [resource.isLoading]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback((newsAt = Date.now()) => {
    progress.current.isDue = true;
    progress.current.newsAt = Math.max(progress.current.newsAt, newsAt);
    plan();
  }, []);
}

interface News {
  /** Only what concerns this source or webhook; otherwise everything of the account. */
  of?: string;
  on?: readonly ("events" | "deliveries" | "runs")[];
  pace?: Pace;
  /** How often to look for what is not in the stream. */
  lookMs?: number;
  isOff?: boolean;
}

/**
 * Keeps what is shown as it is on the server: loads it again after something happened that may have changed it, after the
 * stream was away, and now and then.
 */
export function useFresh(
  resource: Reloadable,
  { of, on = ["events", "deliveries", "runs"], pace = COUNTS, lookMs = LOOK_MS, isOff = false }: News = {},
): void {
  const soon = useReloadSoon(resource, pace);
  const concerns = (...ids: string[]) => of === undefined || ids.includes(of);
  const hasEvents = on.includes("events") && of?.startsWith("dc_");
  const wish = {
    deliveries: on.includes("deliveries"),
    runs: on.includes("runs"),
    org: orgId.value,
    ...(hasEvents && { emitters: [of ?? ""] }),
  };
  useLive(isOff ? null : wish, {
    onSummary: (_, { metadata }) => hasEvents && concerns(metadata.emitter_id) && soon(),
    onDelivery: one => wish.deliveries && concerns(one.webhook_id, one.emitter_id) && soon(),
    onRun: run => wish.runs && concerns(run.source_id) && soon(),
    onReady: () => soon(),
    onSkipped: () => soon(),
  });
  useEffect(() => {
    if (isOff) return;
    const look = setInterval(() => soon(0), lookMs);
    return () => clearInterval(look);
  }, [isOff]);
}

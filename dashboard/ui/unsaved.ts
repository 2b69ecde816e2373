import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";

/** What would be lost, by who shows it: a screen, and perhaps a dialog above it. */
const unsaved = new Map<object, string>();
/** What waits for the reader's word, and what would be lost by it; null if nothing does. */
export const waiting = signal<{ act: () => void; loss: string } | null>(null);

/** Does at once what would lose something that is shown; with something to lose, only after the reader agrees. */
export function leaveThen(act: () => void): void {
  const loss = [...unsaved.values()].at(-1);
  if (loss === undefined) act();
  else waiting.value = { act, loss };
}

/** Does what waits, and loses what was to be kept. */
export function leaveNow(): void {
  const { act } = waiting.value ?? {};
  unsaved.clear();
  act?.();
}

/** Leaves the dashboard for a page that what is shown leads to. */
export function leaveFor(address: string): void {
  unsaved.clear();
  location.assign(address);
}

/** The address that a click leads to within the dashboard; undefined for any other click. */
function targetOf(event: MouseEvent): string | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
    return undefined;
  const link = event.composedPath().find(one => one instanceof HTMLAnchorElement);
  const isElsewhere = link?.origin !== location.origin || (link.target !== "" && link.target !== "_self");
  return link && !isElsewhere ? link.pathname + link.search : undefined;
}

/** The address that is shown, and how another one is. */
let shown: Pick<ReturnType<typeof useLocation>, "url" | "route"> | null = null;

/** The router's own listeners come later: those of the window hear of it in the order in which they were added. */
addEventListener("popstate", event => {
  if (unsaved.size === 0 || shown === null) return;
  const target = location.pathname + location.search;
  const { url, route } = shown;
  event.stopImmediatePropagation();
  // The browser is there already.
  history.pushState(null, "", url);
  leaveThen(() => route(target));
});
addEventListener(
  "click",
  event => {
    const target = unsaved.size > 0 ? targetOf(event) : undefined;
    if (target === undefined || shown === null) return;
    const { route } = shown;
    event.preventDefault();
    event.stopImmediatePropagation();
    leaveThen(() => route(target));
  },
  true,
);
addEventListener("beforeunload", event => {
  if (unsaved.size > 0) event.preventDefault();
});

/** Lets the above know where it is; once, by what is around every screen. */
export function useLeaving(): void {
  const { url, route } = useLocation();
  shown = { url, route };
}

const CHANGES = "What you changed is lost.";

/**
 * Asks before what a screen or a dialog shows is lost: before a link is followed, before going back or forward, before what
 * is given to `leaveThen`, and, in the browser's words, before the tab is closed.
 */
export function useUnsaved(isChanged: boolean, loss = CHANGES): void {
  // At once: Escape may come within the frame.
  useLayoutEffect(() => {
    if (!isChanged) return;
    const self = {};
    unsaved.set(self, loss);
    return () => {
      unsaved.delete(self);
      if (unsaved.size === 0) waiting.value = null;
    };
  }, [isChanged, loss]);
}

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Confirm } from "./dialog";

const isUnsaved = signal(false);
/** What waits for the reader's word; null if nothing does. */
const waiting = signal<(() => void) | null>(null);

/** Does at once what would lose changes of the shown screen; with changes, only after the reader agrees. */
export function leaveThen(act: () => void): void {
  if (isUnsaved.value) waiting.value = act;
  else act();
}

let askAtMove: ((event: PopStateEvent) => void) | null = null;
// Here, before the router is drawn: listeners of the window hear of it in the order in which they were added.
addEventListener("popstate", event => askAtMove?.(event));

/** The address that a click leads to within the dashboard; undefined for any other click. */
function targetOf(event: MouseEvent): string | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
    return undefined;
  const link = event.composedPath().find(one => one instanceof HTMLAnchorElement);
  const isElsewhere = link?.origin !== location.origin || (link.target !== "" && link.target !== "_self");
  return link && !isElsewhere ? link.pathname + link.search : undefined;
}

/**
 * Asks before changes of a screen are lost: before a link is followed, before going back or forward, before what is given to
 * `leaveThen`, and, in the browser's words, before the tab is closed. Returns the question, to be drawn while it is asked.
 */
export function useUnsaved(isChanged: boolean): JSX.Element | null {
  const { route, url } = useLocation();
  useEffect(() => {
    isUnsaved.value = isChanged;
    if (!isChanged) return;
    const askAtEnd = (event: BeforeUnloadEvent) => event.preventDefault();
    const askAtClick = (event: MouseEvent) => {
      const target = targetOf(event);
      if (target === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      leaveThen(() => route(target));
    };
    askAtMove = event => {
      const target = location.pathname + location.search;
      event.stopImmediatePropagation();
      // The browser is there already.
      history.pushState(null, "", url);
      leaveThen(() => route(target));
    };
    addEventListener("beforeunload", askAtEnd);
    addEventListener("click", askAtClick, true);
    return () => {
      isUnsaved.value = false;
      removeEventListener("beforeunload", askAtEnd);
      removeEventListener("click", askAtClick, true);
      askAtMove = null;
    };
  }, [isChanged, url]);
  useEffect(
    () => () => {
      waiting.value = null;
    },
    [],
  );
  const act = waiting.value;
  if (act === null) return null;
  return (
    <Confirm
      title="Leave the code as it was?"
      action="Leave"
      onClose={() => {
        waiting.value = null;
      }}
      onConfirm={() => {
        isUnsaved.value = false;
        act();
      }}
    >
      <p>What you changed is lost.</p>
    </Confirm>
  );
}

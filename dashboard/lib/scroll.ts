/** How long a list may take to be as long as it was. */
const PATIENCE_MS = 5000;
const QUIET_MS = 100;

let timer: ReturnType<typeof setTimeout> | undefined;
/** Counts what ends a way back to where an entry was left: its end, another one, and the reader's own scrolling. */
let turns = 0;

function keepPlace(): void {
  clearTimeout(timer);
  history.replaceState({ ...history.state, y: scrollY }, "");
}

/** Scrolls to where the entry was left, once the page is long enough; not against its reader. */
function goToPlace(): void {
  const y: number = history.state?.y ?? 0;
  const until = Date.now() + PATIENCE_MS;
  const mine = ++turns;
  const look = () => {
    if (turns !== mine) return;
    if (document.documentElement.scrollHeight - innerHeight < y && Date.now() < until)
      return requestAnimationFrame(look);
    scrollTo(0, y);
  };
  requestAnimationFrame(look);
}

/**
 * Makes Back, Forward and Reload return to where the page was scrolled to, although a list is loaded after them. The place is
 * kept with each entry of the browser's history.
 */
export function restoreScrolling(): void {
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(keepPlace, QUIET_MS);
  });
  // A link may lead to another entry now; after Back, it is another entry already.
  addEventListener("click", keepPlace, true);
  addEventListener("popstate", () => {
    clearTimeout(timer);
    // After the router has read the address.
    setTimeout(goToPlace);
  });
  for (const name of ["wheel", "touchstart", "keydown"]) addEventListener(name, () => turns++);
  goToPlace();
}

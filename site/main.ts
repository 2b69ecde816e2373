const { documentElement: root, body } = document;
const system = matchMedia("(prefers-color-scheme: dark)");

/** Addresses of the API reference, which was at `/docs` itself before the site. */
const API_ANCHOR = /^#(tag--|overview|(get|post|put|delete|patch)-\/)/;

if (body.dataset.site === "docs" && API_ANCHOR.test(location.hash))
  location.replace(`docs/api${location.hash}`);

setUpColours();
setUpSearch();
makeWideBlocksReachable();
addEventListener("resize", makeWideBlocksReachable);

/** To the other colours; back to those of the system when they are the same. */
function setUpColours(): void {
  const button = byId("colours");
  button.hidden = false;
  const shown = () => root.dataset.theme ?? (system.matches ? "dark" : "light");
  const label = () => button.replaceChildren(shown() === "dark" ? "Light" : "Dark");
  label();
  system.addEventListener("change", label);
  button.addEventListener("click", () => {
    const next = shown() === "dark" ? "light" : "dark";
    const isSystems = (next === "dark") === system.matches;
    if (isSystems) {
      delete root.dataset.theme;
      localStorage.removeItem("headwater-theme");
    } else {
      root.dataset.theme = next;
      localStorage.setItem("headwater-theme", next);
    }
    label();
  });
}

/** The search and its index are loaded when they are first wanted. */
function setUpSearch(): void {
  const button = byId("find");
  button.hidden = false;
  const open = () => import("./search").then(({ openSearch }) => openSearch());
  button.addEventListener("click", () => void open());
  addEventListener("keydown", event => {
    const isTyped = event.target instanceof HTMLInputElement;
    const isAsked = event.key === "/" || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (!isAsked || isTyped) return;
    event.preventDefault();
    void open();
  });
}

/** Code and tables that are wider than the page are scrolled with the keyboard, too. */
function makeWideBlocksReachable(): void {
  for (const block of document.querySelectorAll<HTMLElement>(".scroll")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
    else block.removeAttribute("tabindex");
  }
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

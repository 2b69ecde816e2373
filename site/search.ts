import MiniSearch, { type Options, type SearchOptions, type SearchResult } from "minisearch";

/** What the index stores of a section (script/lib/site/search-index.mjs). */
interface Section extends SearchResult {
  heading: string;
  page: string;
  excerpt: string;
  at: string;
  /** Of a page for those who change Headwater, or of a decision. */
  isAside: boolean;
}

const RESULTS = 12;
/** A heading says more than a text; the last word may still be typed, and each may have a slip. */
const HOW: SearchOptions = {
  boost: { heading: 4, page: 2 },
  boostDocument: (_id, _term, section) => (section?.isAside ? 0.4 : 1),
  prefix: true,
  fuzzy: 0.15,
  combineWith: "AND",
};

const dialog = document.querySelector("#search") as HTMLDialogElement;
const input = dialog.querySelector("input") as HTMLInputElement;
const list = dialog.querySelector("ol") as HTMLOListElement;
const status = dialog.querySelector("p") as HTMLParagraphElement;
const { site = "", index: address = "" } = document.body.dataset;

let loading: Promise<MiniSearch> | undefined;

/** Opens the search; its index comes from this server, and nothing that is typed leaves the browser. */
export function openSearch(): void {
  if (!dialog.open) dialog.showModal();
  input.select();
  void show();
}

async function load(): Promise<MiniSearch> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the index of the search: ${response.status}`);
  const { options, index } = (await response.json()) as { options: Options; index: object };
  return MiniSearch.loadJS(index as Parameters<typeof MiniSearch.loadJS>[0], options);
}

async function show(): Promise<void> {
  const words = input.value.trim();
  loading ??= load();
  let index: MiniSearch;
  try {
    index = await loading;
  } catch {
    loading = undefined;
    status.textContent = "The server can't be reached.";
    return;
  }
  // Another letter was typed since.
  if (words !== input.value.trim()) return;
  const found = words === "" ? [] : (index.search(words, HOW) as Section[]).slice(0, RESULTS);
  list.replaceChildren(...found.map(resultOf));
  status.textContent = words === "" ? "" : found.length === 0 ? "Nothing is found." : `${found.length} found`;
}

function resultOf({ heading, page, excerpt, at }: Section): HTMLLIElement {
  const link = document.createElement("a");
  link.href = site + at;
  for (const [name, text] of [
    ["strong", heading],
    ["small", heading === page ? "" : page],
    ["span", excerpt],
  ] as const) {
    const part = document.createElement(name);
    part.textContent = text;
    link.append(part, " ");
  }
  link.addEventListener("click", () => dialog.close());
  const item = document.createElement("li");
  item.append(link);
  return item;
}

input.addEventListener("input", () => void show());
dialog.addEventListener("keydown", event => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === "Enter" && event.target === input) {
    event.preventDefault();
    links[0]?.click();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  (links[at + step] ?? input).focus();
});

/** As in dashboard/index.html. */
const LOGO =
  "%3Csvg xmlns='http%3A//www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230b7285'/%3E" +
  "%3Cpath d='M7 12c3-3 6-3 9 0s6 3 9 0M7 20c3-3 6-3 9 0s6 3 9 0' fill='none' stroke='%23fff' stroke-width='2.6' " +
  "stroke-linecap='round'/%3E%3C/svg%3E";

/** Colours and fonts of the dashboard (dashboard/styles/tokens.css). */
export const PALETTE = {
  bg: ["#f4f6f8", "#0a0f14"],
  surface: ["#ffffff", "#10171e"],
  hover: ["#f1f5f8", "#18222c"],
  line: ["#dfe5ea", "#1f2b36"],
  text: ["#101a23", "#e6edf3"],
  "text-2": ["#46545f", "#a9b6c2"],
  accent: ["#0a6c80", "#3cc4dc"],
} as const;
const COLOURS = Object.entries(PALETTE)
  .map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark})`)
  .join(";");
const FONT = '"Inter",ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif';
const BASE_STYLE =
  `:root{color-scheme:light dark;${COLOURS}}` +
  ":root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}" +
  `body{background:var(--bg);color:var(--text);font:15px/1.55 ${FONT};margin:0}a{color:var(--accent)}` +
  ".top{display:flex;gap:1.2rem;align-items:center;padding:.7rem 1rem;background:var(--surface);border-bottom:1px solid var(--line)}" +
  ".top a{text-decoration:none;color:var(--text-2)}.top a[aria-current]{color:var(--accent)}" +
  ".top .brand{display:flex;gap:.6rem;align-items:center;font-weight:650;color:var(--text)}";

/** Start of every HTML page of Headwater's own. `title` must be safe in HTML. */
export const pageHead = (title: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
  `<link rel="icon" href="data:image/svg+xml,${LOGO}"><style>${BASE_STYLE}</style>`;

/** The line above a page of documents: its name and links, each an address and a text. */
export const pageTop = (links: [string, string][], current: string, more = ""): string =>
  `<header class="top"><a class="brand" href="${links[0]?.[0]}"><img alt="" width="24" height="24" src="data:image/svg+xml,${LOGO}">Headwater</a>` +
  links
    .map(([href, text]) => `<a href="${href}"${text === current ? ' aria-current="page"' : ""}>${text}</a>`)
    .join("") +
  `${more}</header>`;

const STYLE =
  ".text{max-width:44em;margin:2em auto;padding:0 1em}label,input,button{font:inherit}" +
  "code{background:var(--hover);padding:.1em .3em;border-radius:4px}";

/** Returns a page of text, without scripts. `title` and `body` must be safe in HTML. */
export const textPage = (title: string, body: string): string =>
  `${pageHead(title)}<style>${STYLE}</style></head><body><div class="text">${body}</div></body></html>`;

/** The content security policy of a text page: nothing is loaded but the picture of its tab, and forms are sent to this origin only. */
export const TEXT_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Returns a text as HTML shows it. */
export const html = (text: string): string =>
  text.replace(/[&<>"']/g, character => ENTITIES[character] ?? "");

import { markdownAddress, relativeTo, SITE } from "./address.mjs";
import { escapeHtml } from "./markdown.mjs";

/** As in dashboard/index.html. */
const LOGO =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230b7285'/%3E" +
  "%3Cpath d='M7 12c3-3 6-3 9 0s6 3 9 0M7 20c3-3 6-3 9 0s6 3 9 0' fill='none' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E";

/**
 * The whole HTML of a page: bar, navigation, text, and the headings beside it. It has neither inline scripts nor inline styles, and
 * everything but the search and the choice of colours works without a script.
 */
export function pageHtml({ page, html, headings, description, sections, assets, version }) {
  const to = address => escapeHtml(relativeTo(page.address, address));
  const asset = name => to(`${SITE}/assets/${name}`);
  const title = page.address === SITE ? "Headwater documentation" : `${page.title} · Headwater`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description.slice(0, 200))}"><link rel="icon" href="${LOGO}">
<script src="${asset(assets.colours)}"></script><link rel="stylesheet" href="${asset(assets.style)}">
<link rel="alternate" type="text/markdown" href="${to(markdownAddress(page.address))}">
<script type="module" src="${asset(assets.main)}"></script></head>
<body data-site="${to(SITE)}" data-index="${asset(assets.index)}">
<a class="skip" href="#text">Skip to the text</a>
<header class="bar"><a class="brand" href="${to(SITE)}"><img alt="" width="24" height="24" src="${LOGO}">Headwater</a>
<span class="version">${escapeHtml(version)}</span>
<button id="find" type="button" hidden>Search <kbd>/</kbd></button>
<a class="wide" href="${to(`${SITE}/api`)}">API</a><a class="wide" href="${to("/dashboard")}">Dashboard</a>
<button id="colours" type="button" hidden>Colours</button>
<button class="narrow" type="button" popovertarget="pages">Menu</button></header>
<div class="frame"><nav id="pages" popover aria-label="Pages">${navigation(page, sections, to)}</nav>
<main id="text"><article>${html}</article>${ending(page, sections, to)}</main>
<aside>${onThisPage(headings)}</aside></div>
<dialog id="search" aria-label="Search the documentation"><form method="dialog"><input type="search" aria-label="Words to search for" placeholder="Search" autocomplete="off" spellcheck="false"><button>Close</button></form><p role="status"></p><ol></ol></dialog>
</body></html>
`;
}

const navigation = (page, sections, to) =>
  sections
    .map(({ title, entries }) => {
      const items = entries.map(({ address, label }) => {
        const current = address === page.address ? ' aria-current="page"' : "";
        return `<li><a href="${to(address)}"${current}>${escapeHtml(label)}</a></li>`;
      });
      return `<h2>${escapeHtml(title)}</h2><ul>${items.join("")}</ul>`;
    })
    .join("");

function onThisPage(headings) {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}

/** The neighbours in the order of the navigation, and the page's Markdown. */
function ending(page, sections, to) {
  const all = sections.flatMap(({ entries }) => entries);
  const at = all.findIndex(({ address }) => address === page.address);
  const link = (entry, rel) =>
    entry ? `<a rel="${rel}" href="${to(entry.address)}">${escapeHtml(entry.label)}</a>` : "<span></span>";
  const neighbours = at < 0 ? "" : link(all[at - 1], "prev") + link(all[at + 1], "next");
  return `<footer><div class="neighbours">${neighbours}</div><a href="${to(markdownAddress(page.address))}">This page as Markdown</a></footer>`;
}

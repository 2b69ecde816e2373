import MiniSearch from "minisearch";
import { SITE } from "./address.mjs";

/** What a result shows of its section. */
const EXCERPT_CHARACTERS = 150;

/** How the index is made: the browser needs the same to load it (site/search.ts). */
const OPTIONS = {
  fields: ["heading", "page", "text"],
  storeFields: ["heading", "page", "excerpt", "at", "isAside"],
};

/**
 * The index of all sections of rendered pages as JSON: `options`, and what MiniSearch keeps. Pages that are not in `first`, the addresses
 * for users, are an aside: they come after the others.
 */
export function searchIndex(rendered, first) {
  const index = new MiniSearch(OPTIONS);
  const sections = rendered.flatMap(({ page, sections }) =>
    sections.map(({ id, depth, text: heading, words }) => {
      const text = words.join(" ").replaceAll(/\s+/g, " ").trim();
      const at = page.address.slice(SITE.length) + (depth === 1 ? "" : `#${id}`);
      const isAside = !first.has(page.address);
      return { heading, page: page.title, text, excerpt: text.slice(0, EXCERPT_CHARACTERS), at, isAside };
    }),
  );
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return JSON.stringify({ options: OPTIONS, index });
}

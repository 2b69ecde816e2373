import { data, routeFor } from "../http/route.ts";
import { notFound } from "../lib/errors.ts";
import type { Stores } from "../platform.ts";
import { findInGallery, listGallery } from "./gallery.ts";
import { Gallery, type GalleryCard, GalleryEntry, GalleryFilter } from "./schema.ts";

const route = routeFor<Stores>();
const tag = "Gallery";

const card: GalleryCard = {
  key: "headwater-feed",
  type: "source",
  name: "New entry in a feed",
  description: "Emits each new entry of RSS, Atom and JSON feeds once.",
  version: "1.0.0",
  component_id: "sc_0CjB8zQw2MnP5vTa",
  app: {
    key: "feed",
    name: "Feeds",
    categories: ["generic"],
    account: { kind: "none", needs: null, where: null },
    monogram: "Fe",
    maturity: "stable",
    docs: { label: "JSON Feed", url: "https://www.jsonfeed.org/" },
    last_checked: "2026-11-28",
  },
  origin: null,
};

const entry: GalleryEntry = {
  ...card,
  configurable_props: [{ name: "urls", type: "string[]", label: "Feeds" }],
  dedupe: "unique",
  remember: null,
  sample: { title: "An entry", link: "https://example.com/an-entry" },
  packages: { "rss-parser": "3.13.0" },
  changelog: [{ version: "1.0.0", date: "2026-11-28", changes: ["New."] }],
};

/** The components that come with a release, and those of indexes (docs/gallery.md). */
export const galleryRoutes = [
  route({
    method: "GET",
    path: "/gallery",
    id: "listGallery",
    tag,
    summary: "List the gallery",
    description:
      "The ready-made components that came with this release, and those of the indexes that the operator added (`origin`). Deploy one by " +
      "its `component_id`. Nothing is listed if the operator turned the gallery off.",
    access: { kind: "caller" },
    query: GalleryFilter,
    response: data(200, Gallery),
    example: { query: { category: "generic" }, response: { components: [card], categories: ["generic"] } },
    handler: ({ deps, query }) => listGallery(deps, query),
  }),
  route({
    method: "GET",
    path: "/gallery/{key}",
    id: "getGalleryEntry",
    tag,
    summary: "Get a component of the gallery",
    description:
      "With its props, a sample of its events and what changed in which version. A source that was deployed from an earlier version " +
      "is updated by `PUT /sources/{id}` with the `component_id` shown here; its secrets stay.",
    access: { kind: "caller" },
    response: data(200, GalleryEntry),
    errors: ["not-found"],
    example: { params: { key: card.key }, response: entry },
    handler: async ({ deps, params }) => {
      const found = await findInGallery(deps, params.key);
      if (!found) throw notFound("gallery component");
      return found;
    },
  }),
];

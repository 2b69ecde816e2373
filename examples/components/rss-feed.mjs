// Polls an RSS or Atom feed and emits each item once. npm packages need no package.json: their versions are resolved
// and pinned when the component is saved.
import Parser from "rss-parser@3.13.0";

// `dedupe: "unique"` remembers this many ids. With more items, old ones would be emitted again.
const MAX_ITEMS = 100;

export default {
  key: "rss-feed",
  name: "New Item in Feed",
  version: "1.0.0",
  description: "Emits an event for every new item of an RSS or Atom feed.",
  type: "source",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", label: "Poll every", default: { intervalSeconds: 15 * 60 } },
    url: { type: "string", label: "Feed URL" },
  },
  methods: {
    /** Returns the feed's text, or null if the server reports no change. */
    async fetchFeed() {
      const etag = this.db.get("etag");
      const response = await fetch(this.url, { headers: etag ? { "if-none-match": etag } : {} });
      if (response.status === 304) return null;
      if (!response.ok) throw new Error(`${this.url} responded with status ${response.status}`);
      this.db.set("etag", response.headers.get("etag"));
      return response.text();
    },
    idOf: (item) => item.guid ?? item.id ?? item.link ?? `${item.title} ${item.isoDate}`,
  },
  async run() {
    const text = await this.fetchFeed();
    if (text === null) return;
    const feed = await new Parser().parseString(text);
    for (const item of feed.items.slice(0, MAX_ITEMS)) {
      const ts = Date.parse(item.isoDate ?? "") || Date.now();
      this.$emit({ feed: feed.title, ...item }, { id: this.idOf(item), summary: item.title, ts });
    }
  },
};

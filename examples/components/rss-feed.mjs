// Polls an RSS or Atom feed and emits each item once. npm packages need no package.json: they are resolved when the
// component is saved, and the versions found then are kept.
import Parser from "rss-parser@3.13.0";

// What `dedupe: "unique"` remembers; looking at more items than that would emit old ones again.
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
    /** The feed's text, or null when the server says that nothing changed. */
    async fetchFeed() {
      const etag = this.db.get("etag");
      const response = await fetch(this.url, { headers: etag ? { "if-none-match": etag } : {} });
      if (response.status === 304) return null;
      if (!response.ok) throw new Error(`${this.url} answered ${response.status}`);
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

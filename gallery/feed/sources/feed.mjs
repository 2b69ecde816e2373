import { emitInOrder, newestOf } from "../../lib/emit-in-order.mjs";
import { send, withoutSecrets } from "../../lib/http.mjs";
import { firstOf, shortHash } from "../../lib/identity.mjs";
import { backfill, timer } from "../../lib/poll-props.mjs";
import { readFeed } from "../read-feed.mjs";

const MAX_FEEDS = 10;
/** The newest entries of a feed that are looked at, and how many are remembered: of ten feeds, 42 of the 60 KB of a db. */
const MAX_ENTRIES = 150;
const REMEMBERED = 300;

const headers = {
  accept:
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
};

export default {
  key: "headwater-feed",
  name: "New entry in a feed",
  version: "1.0.1",
  type: "source",
  description: "Emits each new entry of RSS, Atom and JSON feeds once.",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    urls: { type: "string[]", label: "Feeds", description: `Addresses of at most ${MAX_FEEDS} feeds.` },
    timer: timer("Look every", 900),
    words: {
      type: "string[]",
      label: "Only with one of these words",
      description: "In the title or the text, in either case. Empty: every entry.",
      optional: true,
    },
    backfill: backfill("entries", "entries of a feed"),
  },
  hooks: {
    // An address that is not a feed's is told to who enters it.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    async look() {
      if (this.urls.length > MAX_FEEDS)
        throw new Error(
          `these are ${this.urls.length} feeds, and a source reads ${MAX_FEEDS}: make another one`,
        );
      const stored = this.db.get("feeds") ?? {};
      const states = Object.fromEntries(this.urls.map(url => [shortHash(url), stored[shortHash(url)]]));
      const failures = [];
      for (const url of this.urls) {
        const name = shortHash(url);
        if (Date.now() < (states[name]?.wait_until_ms ?? 0)) continue;
        try {
          await this.lookAt(url, states);
        } catch (error) {
          failures.push(error);
          if (error.retryAfterMs)
            states[name] = { ...states[name], wait_until_ms: Date.now() + error.retryAfterMs };
        }
      }
      this.db.set("feeds", states);
      if (failures.length === 1) throw failures[0];
      if (failures.length > 1)
        throw new AggregateError(failures, `${failures.length} of ${this.urls.length} feeds can't be read`);
    },
    async lookAt(url, states) {
      const before = states[shortHash(url)];
      const response = await send(url, {
        headers: {
          ...headers,
          ...(before?.etag && { "if-none-match": before.etag }),
          ...(before?.modified && { "if-modified-since": before.modified }),
        },
      });
      if (response.status === 304) return;
      const feed = await readFeed(response.text).catch(error => {
        throw new Error(`${withoutSecrets(url)} is not a feed: ${error.message}`);
      });
      const known = new Set(before?.seen);
      const entries = feed.entries
        .slice(0, MAX_ENTRIES)
        .map(entry => ({ entry, name: shortHash(`${url} ${entry.id}`) }));
      const fresh = oldestFirst(entries.filter(({ name }) => !known.has(name)));
      const isFirst = before?.seen === undefined;
      emitInOrder(isFirst ? newestOf(fresh, this.backfill) : fresh, {
        emit: ({ entry, name }) => {
          if (this.isWanted(entry))
            this.emitEntry({ feed: { title: feed.title, url: withoutSecrets(url) }, ...entry }, name);
        },
        remember: (emitted, isAll) => {
          const names = (isAll ? entries : emitted).map(({ name }) => name);
          states[shortHash(url)] = {
            // Of a feed that was not read whole, the rest is new at the next look: it must not count as unchanged.
            ...(isAll && {
              etag: response.headers.get("etag"),
              modified: response.headers.get("last-modified"),
            }),
            seen: firstOf([...names, ...known], REMEMBERED),
          };
        },
      });
    },
    isWanted({ title, text }) {
      const said = `${title ?? ""} ${text ?? ""}`.toLowerCase();
      return !this.words?.length || this.words.some(word => said.includes(word.toLowerCase()));
    },
    emitEntry(event, id) {
      const ts = Date.parse(event.published_at ?? "");
      this.$emit(event, {
        id,
        summary: event.title ?? event.link ?? event.id,
        ...(!Number.isNaN(ts) && { ts }),
      });
    },
  },
  async run() {
    await this.look();
  },
  sampleEmit: {
    feed: { title: "News", url: "https://example.com/feed.xml" },
    id: "https://example.com/an-entry",
    title: "An entry",
    link: "https://example.com/an-entry",
    author: "Anna",
    published_at: "2026-11-28T08:00:00.000Z",
    text: "What it says.",
    content: "<p>What it says.</p>",
    categories: ["news"],
    enclosure: null,
  },
};

/** By their times if all have one; else the other way round than the feed, which has the newest first. */
function oldestFirst(entries) {
  const timeOf = ({ entry }) => Date.parse(entry.published_at ?? "");
  const reversed = [...entries].reverse();
  return reversed.some(one => Number.isNaN(timeOf(one)))
    ? reversed
    : reversed.sort((a, b) => timeOf(a) - timeOf(b));
}

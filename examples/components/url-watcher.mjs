// Emits an event when the content behind a URL has changed. If the server sends an etag, it saves the transfer of
// unchanged content. The hash of the body decides, because some servers send a new etag for the same content.
import { createHash } from "node:crypto";

export default {
  key: "url-watcher",
  name: "Changed Page",
  version: "1.0.0",
  description: "Emits an event when the content behind a URL changes.",
  type: "source",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", label: "Look every", default: { intervalSeconds: 5 * 60 } },
    url: { type: "string", label: "URL" },
  },
  hooks: {
    // The first look only stores the content: what existed before the source is not a change.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    /** Returns what has changed since the last look, or null. */
    async look() {
      const seen = this.db.get("seen");
      const headers = seen?.etag ? { "if-none-match": seen.etag } : {};
      const response = await fetch(this.url, { headers });
      if (response.status === 304) return null;
      if (!response.ok) throw new Error(`${this.url} responded with status ${response.status}`);
      const body = Buffer.from(await response.arrayBuffer());
      const hash = createHash("sha256").update(body).digest("hex");
      this.db.set("seen", { hash, etag: response.headers.get("etag") });
      if (seen === undefined || seen.hash === hash) return null;
      return { url: this.url, hash, previous_hash: seen.hash, size: body.length };
    },
  },
  async run() {
    const change = await this.look();
    if (change) this.$emit(change, { summary: `${this.url} changed` });
  },
};

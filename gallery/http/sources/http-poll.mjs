import { emitInOrder, newestOf } from "../../lib/emit-in-order.mjs";
import { heedingWaits, jsonOf, send, withoutSecrets } from "../../lib/http.mjs";
import { firstOf, shortHash } from "../../lib/identity.mjs";
import { asText, filled, valueAt } from "../../lib/paths.mjs";
import { backfill, timer } from "../../lib/poll-props.mjs";

/** Names of items, of which a db of 60 KB holds as many. */
const REMEMBERED = 2000;

/** The parameter that asks for a page, by the kind of pages, where none is named. */
const PARAMETERS = { cursor: "cursor", number: "page", offset: "offset" };

export default {
  key: "headwater-http-poll",
  name: "New items of a JSON API",
  version: "1.0.1",
  type: "source",
  description: "Asks a JSON API again and again, and emits the items of its list that are new.",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    url: {
      type: "string",
      label: "Address",
      description: "It responds with JSON, which is a list or has one.",
    },
    timer: timer("Ask every", 300),
    authorization: {
      type: "string",
      label: "Authorization",
      description:
        "Value of the header of that name, such as Bearer TOKEN. It goes to the site of the address only.",
      secret: true,
      optional: true,
    },
    headers: { type: "object", label: "Further headers", optional: true },
    body: {
      type: "object",
      label: "Body",
      description: "Sent as JSON by POST. Empty: GET without a body.",
      optional: true,
    },
    items: {
      type: "string",
      label: "Where the list is",
      description: "Path in the response, such as data.items. Empty: the response is the list.",
      optional: true,
    },
    id: {
      type: "string",
      label: "Id of an item",
      description: "Path in an item, such as id. An item without one is known by its content.",
      default: "id",
    },
    emits: {
      type: "string",
      label: "What is an event",
      options: [
        { label: "A new item", value: "new" },
        { label: "A new or changed item", value: "changed" },
      ],
      default: "new",
    },
    time: {
      type: "string",
      label: "Time of an item",
      description: "Path in an item, such as created_at: a date, or Unix seconds or milliseconds.",
      optional: true,
    },
    order: {
      type: "string",
      label: "Order of the list",
      options: [
        { label: "Newest first", value: "newest" },
        { label: "Oldest first", value: "oldest" },
      ],
      default: "newest",
    },
    summary: {
      type: "string",
      label: "Summary",
      description: "A line for people, with values of the item, such as {{title}}.",
      optional: true,
    },
    pages: {
      type: "string",
      label: "Further pages",
      options: [
        { label: "None", value: "none" },
        { label: "The response's Link header names the next one", value: "link" },
        { label: "The response has a cursor, or an address", value: "cursor" },
        { label: "By number", value: "number" },
        { label: "By offset", value: "offset" },
      ],
      default: "none",
    },
    cursorPath: {
      type: "string",
      label: "Where the cursor is",
      description: "Path in the response, such as next_cursor or links.next.",
      optional: true,
    },
    pageParameter: {
      type: "string",
      label: "Parameter of pages",
      description: "By default cursor, page or offset.",
      optional: true,
    },
    mostPages: { type: "integer", label: "Most pages of one look", default: 10, min: 1, max: 50 },
    sinceParameter: {
      type: "string",
      label: "Parameter for newer items only",
      description:
        "Such as since: it gets the time of the newest item so far, so Time of an item is needed. The first look then asks for items from now on.",
      optional: true,
    },
    sinceForm: {
      type: "string",
      label: "Form of that time",
      options: [
        { label: "2026-11-28T08:00:00.000Z", value: "iso" },
        { label: "Unix seconds", value: "s" },
        { label: "Unix milliseconds", value: "ms" },
      ],
      default: "iso",
    },
    overlap: {
      type: "integer",
      label: "Overlap",
      description:
        "Seconds by which that time is earlier, for items that appear late. None of them is an event twice.",
      default: 120,
      min: 0,
      max: 86_400,
    },
    backfill: backfill("items"),
  },
  hooks: {
    // What is wrong with the address or the paths is told to who enters them.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    async look() {
      if (this.sinceParameter && !this.time)
        throw new Error("Parameter for newer items only: Time of an item is needed, too");
      const seen = this.db.get("seen");
      const known = new Set(seen);
      const { items, isCut } = await this.read(known, seen === undefined);
      if (items.length > REMEMBERED) {
        throw new Error(
          `the list has ${items.length} items, and ${REMEMBERED} can be told apart: ask for newer items only, or for fewer pages`,
        );
      }
      const fresh = this.oldestFirst(items.filter(({ name }) => !known.has(name)));
      emitInOrder(seen ? fresh : newestOf(fresh, this.backfill), {
        emit: item => this.emitItem(item),
        remember: (emitted, isAll) => {
          const names = (isAll ? items : emitted).map(({ name }) => name);
          if (isAll || seen) this.db.set("seen", firstOf([...names, ...known], REMEMBERED));
        },
      });
      if (this.sinceParameter) this.db.set("newest_ms", this.latestOf(items));
      const isGone = isCut && seen && !(this.sinceParameter && this.order === "oldest");
      if (isGone)
        throw new Error(
          `there are more than ${this.mostPages} pages of new items, and further pages were left out. Look more often, or raise the number of pages`,
        );
    },
    /** Not later than now: behind an item with a time of the future, everything else would be missed. */
    latestOf(items) {
      const before = this.db.get("newest_ms") ?? Date.now();
      return Math.max(before, ...items.map(({ ms }) => Math.min(ms ?? 0, Date.now())));
    },
    /** Returns the items of all pages, each once, and whether there are more pages. */
    async read(known, isFirst) {
      const items = new Map();
      const asked = new Set();
      let count = 0;
      let address = this.firstAddress();
      for (let page = 1; address; page += 1) {
        if (page > this.mostPages) return { items: [...items.values()], isCut: true };
        asked.add(address);
        const response = await this.ask(address);
        const body = jsonOf(response);
        const list = valueAt(body, this.items);
        if (!Array.isArray(list))
          throw new Error(
            `${withoutSecrets(this.url)} has no list at ${this.items || "the top of its response"}`,
          );
        const found = list.map(item => this.named(item));
        count += found.length;
        // An API that ignores the parameter, or whose pages go round in a circle, has been read.
        const isRepeated = found.every(({ name }) => items.has(name));
        for (const one of found) items.set(one.name, one);
        // Behind a page of known items, everything is older.
        const isOld =
          this.order === "newest" &&
          this.emits === "new" &&
          !isFirst &&
          found.every(({ name }) => known.has(name));
        const next = isRepeated || isOld ? null : this.nextAddress(address, { response, body, page, count });
        address = asked.has(next) ? null : next;
      }
      return { items: [...items.values()], isCut: false };
    },
    firstAddress() {
      const address = new URL(this.url);
      if (this.sinceParameter) {
        const ms = (this.db.get("newest_ms") ?? Date.now()) - 1000 * this.overlap;
        const forms = { iso: new Date(ms).toISOString(), s: String(Math.floor(ms / 1000)), ms: String(ms) };
        address.searchParams.set(this.sinceParameter, forms[this.sinceForm]);
      }
      return address.href;
    },
    nextAddress(address, { response, body, page, count }) {
      if (this.pages === "none") return null;
      if (this.pages === "link") return this.onSameSite(linkTo(response.headers.get("link") ?? ""), address);
      const cursor =
        this.pages === "cursor" ? valueAt(body, this.cursorPath) : this.pages === "number" ? page + 1 : count;
      if (cursor === undefined || cursor === null || cursor === "" || cursor === false) return null;
      if (/^(https?:\/\/|\/|\?)/.test(cursor)) return this.onSameSite(cursor, address);
      const next = new URL(address);
      next.searchParams.set(this.pageParameter || PARAMETERS[this.pages], asText(cursor));
      return next.href;
    },
    /** The authorization is for the site of the address alone. */
    onSameSite(link, address) {
      if (!link) return null;
      const next = new URL(link, address);
      if (next.origin !== new URL(this.url).origin)
        throw new Error(`the next page is on another site, ${next.origin}`);
      return next.href;
    },
    ask(address) {
      const sent = this.body && { method: "POST", body: JSON.stringify(this.body) };
      return send(address, {
        ...sent,
        headers: {
          accept: "application/json",
          ...(sent && { "content-type": "application/json" }),
          ...this.headers,
          ...(this.authorization && { authorization: this.authorization }),
        },
      });
    },
    named(item) {
      const id = valueAt(item, this.id);
      const content = id === undefined || id === null || this.emits === "changed" ? JSON.stringify(item) : "";
      const ms = this.time ? millisecondsOf(valueAt(item, this.time)) : null;
      return { item, id: asText(id), name: shortHash(`${asText(id)}\n${content}`), ms };
    },
    oldestFirst(items) {
      const inOrder = this.order === "newest" ? [...items].reverse() : items;
      return inOrder.every(({ ms }) => ms !== null) ? [...inOrder].sort((a, b) => a.ms - b.ms) : inOrder;
    },
    emitItem({ item, id, name, ms }) {
      const summary = this.summary ? filled(this.summary, item) : id;
      this.$emit(item, { id: name, ...(summary && { summary }), ...(ms !== null && { ts: ms }) });
    },
  },
  async run() {
    await heedingWaits(this.db, () => this.look());
  },
  sampleEmit: { id: 17, title: "An item", created_at: "2026-11-28T08:00:00.000Z" },
};

const linkTo = header => /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(header)?.[1];

/** Numbers below this are seconds: as milliseconds they would be in 1973. */
const SECONDS_BELOW = 100_000_000_000;

function millisecondsOf(value) {
  const number = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  const ms =
    typeof number === "number" ? (number < SECONDS_BELOW ? 1000 * number : number) : Date.parse(value ?? "");
  return Number.isFinite(ms) ? ms : null;
}

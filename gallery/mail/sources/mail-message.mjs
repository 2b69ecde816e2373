import { emitInOrder, newestOf } from "../../lib/emit-in-order.mjs";
import { shortHash } from "../../lib/identity.mjs";
import { backfill, timer } from "../../lib/poll-props.mjs";
import { serverProps, withServer } from "../mailbox.mjs";
import { FIELDS, readMessage } from "../read-message.mjs";

/** Messages that are held at a time. */
const PAGE = 20;
const DAY_MS = 86_400_000;

export default {
  key: "headwater-mail-message",
  name: "New mail",
  version: "1.0.0",
  type: "source",
  description: "Looks into a mailbox by IMAP, and emits each new message once.",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    ...serverProps,
    timer: timer("Look every", 300),
    mailbox: {
      type: "string",
      label: "Mailbox",
      default: "INBOX",
      async options() {
        const found = await withServer(this, client => client.list());
        return found.map(({ path }) => path);
      },
    },
    from: {
      type: "string",
      label: "Only from",
      description: "A part of the sender's name or address, in either case.",
      optional: true,
    },
    subject: {
      type: "string",
      label: "Only with the subject",
      description: "A part of it, in either case.",
      optional: true,
    },
    attachments: {
      type: "string",
      label: "Attachments",
      options: [
        { label: "Names, types and sizes", value: "names" },
        { label: "With their content, as far as it fits into an event (some 150 KB)", value: "content" },
      ],
      default: "names",
    },
    most: { type: "integer", label: "Most messages of one look", default: 100, min: 1, max: 500 },
    backfill: backfill("messages"),
  },
  hooks: {
    // A wrong password is told to who enters it.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    async look() {
      const list = shortHash(JSON.stringify([this.host, this.user, this.mailbox]));
      const stored = this.db.get("mail");
      await withServer(this, async client => {
        // Messages stay unread.
        const box = await client.mailboxOpen(this.mailbox, { readOnly: true });
        const now = { list, validity: String(box.uidValidity), uid: box.uidNext - 1 };
        if (stored?.list !== list) await this.begin(client, now, box.exists);
        else if (stored.validity === now.validity) await this.goOn(client, stored, now);
        else await this.beginAgain(client, stored, now);
      });
    },
    async begin(client, now, exists) {
      const count = Math.max(1, this.backfill);
      const last = exists > 0 ? await arrivalsOf(client, `${Math.max(1, exists - count + 1)}:*`) : [];
      const known = { ...now, newest: Math.max(0, ...last.map(({ ms }) => ms)) };
      await this.emitAll(client, newestOf(last, this.backfill), known);
      this.db.set("mail", known);
    },
    async goOn(client, known, now) {
      const fresh = now.uid > known.uid ? await uidsFrom(client, known.uid + 1) : [];
      const arrivals = fresh.slice(0, this.most).map(uid => ({ uid }));
      const passed = await this.emitAll(client, arrivals, known, { isByUid: true });
      const isWhole = arrivals.length === fresh.length;
      this.db.set("mail", { ...passed, ...(isWhole && { uid: Math.max(now.uid, passed.uid) }) });
    },
    /** The server counts anew, and has perhaps other messages: what is new is known by when it arrived. */
    async beginAgain(client, known, now) {
      const since = await searched(client, { since: new Date(Math.max(0, known.newest - DAY_MS)) });
      const arrivals = since.length > 0 ? await arrivalsOf(client, since.join(","), { uid: true }) : [];
      const fresh = arrivals.filter(({ ms }) => ms > known.newest).sort((a, b) => a.ms - b.ms);
      const passed = await this.emitAll(client, fresh, known, { validity: now.validity });
      this.db.set("mail", { ...now, newest: passed.newest });
    },
    /**
     * Emits messages in this order, and returns what is known then: how late the newest of them arrived, and with `isByUid` the uid of
     * the last one. It is stored after each page.
     */
    async emitAll(client, arrivals, start, { validity = start.validity, isByUid = false } = {}) {
      let known = start;
      for (let at = 0; at < arrivals.length; at += PAGE) {
        const uids = arrivals.slice(at, at + PAGE).map(({ uid }) => uid);
        emitInOrder(await this.read(client, uids), {
          emit: message => this.emitMessage(message, validity),
          remember: messages => {
            for (const { uid, ms } of messages)
              known = { ...known, ...(isByUid && { uid }), newest: Math.max(known.newest, ms) };
            this.db.set("mail", known);
          },
        });
      }
      return known;
    },
    /** Returns those of these messages that were not deleted yet, in this order. */
    async read(client, uids) {
      const found = await client.fetchAll(uids.join(","), FIELDS, { uid: true });
      const messages = [];
      for (const message of uids.flatMap(uid => found.find(one => one.uid === uid) ?? [])) {
        const event = this.isWanted(message.envelope ?? {})
          ? await readMessage(client, message, this.attachments === "content")
          : null;
        messages.push({ uid: message.uid, ms: arrivalOf(message), event });
      }
      return messages;
    },
    isWanted({ from, subject }) {
      const has = (text, part) => !part || (text ?? "").toLowerCase().includes(part.toLowerCase());
      const sender = (from ?? []).map(({ name, address }) => `${name ?? ""} ${address ?? ""}`).join(" ");
      return has(sender, this.from) && has(subject, this.subject);
    },
    emitMessage({ uid, ms, event }, validity) {
      if (event === null) return;
      const summary = event.subject || `mail of ${event.from?.address ?? "nobody"}`;
      this.$emit({ mailbox: this.mailbox, ...event }, { id: `${validity}:${uid}`, summary, ts: ms });
    },
  },
  async run() {
    await this.look();
  },
  sampleEmit: {
    mailbox: "INBOX",
    uid: 17,
    message_id: "<17@example.com>",
    in_reply_to: null,
    subject: "Order 17",
    from: { name: "Ada", address: "ada@example.com" },
    to: [{ name: null, address: "orders@example.org" }],
    cc: [],
    reply_to: [],
    date: "2026-11-29T08:00:00.000Z",
    received_at: "2026-11-29T08:00:02.000Z",
    size: 1290,
    text: "Please send me one.",
    html: null,
    is_cut: false,
    attachments: [{ name: "order.pdf", type: "application/pdf", size: 48_210 }],
  },
};

async function searched(client, query) {
  const uids = await client.search(query, { uid: true });
  // Nothing found is a list, too.
  if (!Array.isArray(uids)) throw new Error("the mail server could not search the mailbox");
  return uids.sort((a, b) => a - b);
}

/** The server takes the last message for `*`, also if there is none from this one on. */
const uidsFrom = async (client, first) =>
  (await searched(client, { uid: `${first}:*` })).filter(uid => uid >= first);

const arrivalOf = ({ internalDate }) => new Date(internalDate ?? 0).getTime();

/** Returns the uids of messages, in order, with when they arrived. */
async function arrivalsOf(client, range, options = {}) {
  const found = await client.fetchAll(range, { uid: true, internalDate: true }, options);
  return found.map(message => ({ uid: message.uid, ms: arrivalOf(message) })).sort((a, b) => a.uid - b.uid);
}

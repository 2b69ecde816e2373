import { cut, cutToBytes } from "../lib/text.mjs";

/** Bounds of the parts of an event, which has 512 KB in all. */
const TEXT_BYTES = 96 * 1024;
/** Of all files, as base64. */
const FILES_BYTES = 210 * 1024;
const PEOPLE = 50;
const NAME = 100;
const FILES = 100;

/** What has to be fetched of a message before it is read. */
export const FIELDS = { uid: true, envelope: true, internalDate: true, bodyStructure: true, size: true };

/**
 * Returns the event that a message is, without what is too large for one: texts are cut, and files have only a name, a type and a
 * size, as they do without `hasFiles`. Only the parts that an event shows are fetched.
 */
export async function readMessage(
  client,
  { uid, envelope = {}, internalDate, bodyStructure, size },
  hasFiles,
) {
  const parts = leavesOf(bodyStructure);
  const body = type => parts.find(part => part.type === type && !isFile(part));
  const [text, html] = [
    await textOf(client, uid, body("text/plain")),
    await textOf(client, uid, body("text/html")),
  ];
  return {
    uid,
    ...{ message_id: idOf(envelope.messageId), in_reply_to: idOf(envelope.inReplyTo) },
    ...{
      subject: cut(envelope.subject ?? "", 1000),
      from: people(envelope.from)[0] ?? null,
      to: people(envelope.to),
    },
    ...{ cc: people(envelope.cc), reply_to: people(envelope.replyTo) },
    ...{ date: isoOf(envelope.date), received_at: isoOf(internalDate), size },
    ...{ text: text?.shown ?? null, html: html?.shown ?? null, is_cut: Boolean(text?.isCut || html?.isCut) },
    attachments: await filesOf(client, uid, parts.filter(isFile).slice(0, FILES), hasFiles),
  };
}

const leavesOf = part => (part.childNodes ? part.childNodes.flatMap(leavesOf) : [part]);

const nameOf = ({ dispositionParameters, parameters }) => dispositionParameters?.filename ?? parameters?.name;

const isFile = part =>
  part.disposition === "attachment" || nameOf(part) !== undefined || !part.type.startsWith("text/");

async function textOf(client, uid, part) {
  if (!part) return null;
  const bytes = await bytesOf(client, uid, part, 4 * TEXT_BYTES);
  const text = bytes.toString("utf8");
  const shown = cutToBytes(text, TEXT_BYTES);
  return { shown, isCut: shown !== text || part.size > 4 * TEXT_BYTES };
}

async function filesOf(client, uid, parts, hasFiles) {
  const files = [];
  let left = FILES_BYTES;
  for (const part of parts) {
    const file = { name: cut(nameOf(part) ?? "", NAME) || null, type: part.type, size: part.size };
    // The size is that of the part as it was sent, mostly as base64.
    if (hasFiles && part.size <= left) {
      const bytes = await bytesOf(client, uid, part, FILES_BYTES);
      const content_base64 = bytes.toString("base64");
      left -= content_base64.length;
      files.push({ ...file, size: bytes.length, content_base64 });
    } else files.push(file);
  }
  return files;
}

/** Texts come as UTF-8, whatever their charset was. The part of a message that has only one has no number. */
async function bytesOf(client, uid, { part = "1" }, maxBytes) {
  const { content } = await client.download(`${uid}`, part, { uid: true, maxBytes });
  const chunks = [];
  for await (const chunk of content ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const people = given =>
  (given ?? []).slice(0, PEOPLE).map(({ name, address }) => ({
    name: name ? cut(name, NAME) : null,
    address: address ? cut(address, NAME) : null,
  }));

const idOf = id => (id ? cut(id, 1000) : null);

const isoOf = date => {
  const ms = new Date(date ?? Number.NaN).getTime();
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

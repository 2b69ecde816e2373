import Parser from "rss-parser";

/** Of an entry's text: whole articles are what the link is for. */
const MAX_CONTENT = 65_536;

/** Returns the title of a feed and its entries as events have them, in the order of the feed. Throws for what is not a feed. */
export async function readFeed(text) {
  return text.trimStart().startsWith("{")
    ? jsonFeed(JSON.parse(text))
    : xmlFeed(await new Parser().parseString(text));
}

function jsonFeed({ title, items }) {
  if (!Array.isArray(items)) throw new Error("it is JSON, but has no items");
  return {
    title: title ?? null,
    entries: items.map(item =>
      entry({
        id: item.id,
        title: item.title,
        link: item.url ?? item.external_url,
        author: item.authors?.[0]?.name ?? item.author?.name,
        at: item.date_published ?? item.date_modified,
        text: item.summary ?? item.content_text,
        content: item.content_html ?? item.content_text,
        categories: item.tags,
        enclosure: item.attachments?.[0] && {
          url: item.attachments[0].url,
          type: item.attachments[0].mime_type,
        },
      }),
    ),
  };
}

const xmlFeed = ({ title, items }) => ({
  title: title ?? null,
  entries: items.map(item =>
    entry({
      id: item.guid ?? item.id,
      title: item.title,
      link: item.link,
      author: item.creator ?? item.author,
      at: item.isoDate ?? item.pubDate,
      text: item.contentSnippet ?? item.summary,
      content: item["content:encoded"] ?? item.content,
      categories: item.categories,
      enclosure: item.enclosure && { url: item.enclosure.url, type: item.enclosure.type },
    }),
  ),
});

function entry({ id, title, link, author, at, text, content, categories, enclosure }) {
  const time = Date.parse(at ?? "");
  const own = {
    title: textOf(title),
    link: textOf(link),
    author: textOf(author),
    published_at: Number.isNaN(time) ? null : new Date(time).toISOString(),
    text: textOf(text)?.slice(0, MAX_CONTENT) ?? null,
    content: textOf(content)?.slice(0, MAX_CONTENT) ?? null,
    categories: (categories ?? []).map(textOf).filter(one => one !== null),
    enclosure: enclosure ?? null,
  };
  // Without an id, an entry is what it links to, or what it says.
  return { id: textOf(id) ?? own.link ?? JSON.stringify([own.title, own.text]), ...own };
}

/** Elements with attributes are objects. */
function textOf(value) {
  const text = typeof value === "object" && value !== null ? (value._ ?? value.$?.term ?? value.name) : value;
  return text === undefined || text === null || text === ""
    ? null
    : String(Array.isArray(text) ? text[0] : text);
}

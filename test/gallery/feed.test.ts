import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { openSource } from "./open-shipped.ts";

const KEY = "headwater-feed";
const item = (n: number) =>
  `<item><title>Item ${n}</title><guid>g-${n}</guid><link>http://x/${n}</link><pubDate>${new Date(Date.UTC(2024, 0, n)).toUTCString()}</pubDate></item>`;
/** The newest first, as feeds are. */
const rss = (from: number, to: number) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${Array.from({ length: to - from + 1 }, (_, i) => item(to - i)).join("")}</channel></rss>`;
const ok = (body: string, headers: Record<string, string> = {}) => ({ status: 200, headers, body });

const titles = (events: unknown[]) => (events as { title: string }[]).map(({ title }) => title);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `Item ${from + i}`);

describe("the gallery's feed", () => {
  let sandboxes: Sandboxes;
  let server: Receiver;
  let origin: string;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    server = await startReceiver();
    origin = new URL(server.url).origin;
  });
  afterEach(() => server.close());
  after(() => sandboxes?.close());

  it("emits what is new since it was deployed, the oldest first, each once, over more entries than dedupe remembers", async () => {
    const feed = await openSource(sandboxes, KEY, { urls: [`${origin}/feed`] });
    server.script(ok(rss(1, 140)));
    expect((await feed.call("deploy")).emits).to.deep.equal([]);
    expect(await feed.events()).to.deep.equal([]);
    server.script(ok(rss(11, 150)));
    expect(titles(await feed.events())).to.deep.equal(numbered(141, 150));
    // Those that went are remembered, should they come back.
    server.script(ok(rss(1, 150)));
    expect(await feed.events()).to.deep.equal([]);
    server.script(ok(rss(151, 290)));
    expect(titles(await feed.events())).to.deep.equal(numbered(151, 290));
    expect(await feed.events()).to.deep.equal([]);
  });

  it("begins with the newest entries that it is told to", async () => {
    const feed = await openSource(sandboxes, KEY, { urls: [`${origin}/feed`], backfill: 2 });
    server.script(ok(rss(1, 9)));
    const { emits } = await feed.call("deploy");
    expect(titles(emits.map(one => one.event))).to.deep.equal(["Item 8", "Item 9"]);
    expect(emits[0]?.metadata).to.include({ summary: "Item 8", ts: Date.UTC(2024, 0, 8) });
    const few = await openSource(sandboxes, KEY, { urls: [`${origin}/feed`], backfill: 50 });
    expect((await few.call("deploy")).emits).to.have.length(9);
  });

  it("asks for a changed feed only, and begins again where it failed", async () => {
    const feed = await openSource(sandboxes, KEY, { urls: [`${origin}/feed`] });
    server.script(
      ok(rss(1, 1), { etag: '"1"', "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT" }),
      { status: 304 },
      500,
      ok(rss(1, 2)),
    );
    await feed.call("deploy");
    expect(await feed.events()).to.deep.equal([]);
    expect(server.requests[1]?.headers).to.include({
      "if-none-match": '"1"',
      "if-modified-since": "Mon, 01 Jan 2024 00:00:00 GMT",
    });
    expect((await feed.run()).failed).to.match(/\/feed responded with status 500$/);
    expect(titles(await feed.events())).to.deep.equal(["Item 2"]);
  });

  it("reads Atom and JSON Feed, in the charset that they are in", async () => {
    const atom = Buffer.from(
      `<?xml version="1.0" encoding="iso-8859-1"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Übersicht</title>
      <entry><title>Ärger</title><id>n-1</id><link href="http://x/n"/><updated>2024-05-01T08:00:00Z</updated><author><name>Änne</name></author></entry></feed>`,
      "latin1",
    );
    const json = {
      title: "Notes",
      items: [{ id: 7, url: "http://x/7", content_text: "Seven", tags: ["a"] }],
    };
    const feed = await openSource(sandboxes, KEY, {
      urls: [`${origin}/atom`, `${origin}/json`],
      backfill: 5,
    });
    server.script(ok(atom as unknown as string), ok(JSON.stringify(json)));
    const { emits, failed } = await feed.call("deploy");
    expect(failed).to.equal(null);
    const events = emits.map(one => one.event as Record<string, unknown>);
    expect(events.find(one => one.id === "n-1")).to.deep.include({
      feed: { title: "Übersicht", url: `${origin}/atom` },
      title: "Ärger",
      author: "Änne",
      link: "http://x/n",
      published_at: "2024-05-01T08:00:00.000Z",
    });
    expect(events.find(one => one.id === "7")).to.deep.include({
      text: "Seven",
      link: "http://x/7",
      categories: ["a"],
    });
  });

  it("reads the other feeds if one fails, and waits as long as that one asks", async () => {
    const urls = [`${origin}/a?key=k`, `${origin}/b`];
    const feed = await openSource(sandboxes, KEY, { urls });
    server.script(ok(rss(1, 1)));
    await feed.call("deploy");
    server.script(
      { status: 429, headers: { "retry-after": "3600" }, body: '{"error":{"message":"slowly, please"}}' },
      ok(rss(1, 2)),
    );
    const { emits, failed } = await feed.run();
    expect(failed).to.equal(`${origin}/a responded with status 429: slowly, please`);
    expect(titles(emits.map(one => one.event))).to.deep.equal(["Item 2"]);
    const asked = server.requests.length;
    server.script(ok(rss(1, 3)));
    expect(titles(await feed.events())).to.deep.equal(["Item 3"]);
    expect(server.requests.slice(asked).map(({ path }) => path)).to.deep.equal(["/b"]);
  });

  it("keeps only entries with one of its words, and begins a feed that is added where that is", async () => {
    const urls = [`${origin}/a`];
    const feed = await openSource(sandboxes, KEY, { urls, words: ["item 2"] });
    server.script(ok(rss(1, 1)));
    await feed.call("deploy");
    server.script(ok(rss(1, 3)));
    expect(titles(await feed.events())).to.deep.equal(["Item 2"]);
    feed.configure({ urls: [...urls, `${origin}/b`] });
    expect(await feed.events()).to.deep.equal([]);
    server.script(ok(rss(1, 3)), ok(rss(1, 4)));
    expect(titles(await feed.events())).to.deep.equal(["Item 4"]);
  });

  it("rejects an address that is not a feed's where it is deployed, without its query", async () => {
    const feed = await openSource(sandboxes, KEY, { urls: [`${origin}/page?token=secret`] });
    server.script(ok("<html><body>Hello</body></html>"));
    expect((await feed.call("deploy")).failed)
      .to.match(/\/page is not a feed: /)
      .and.not.include("secret");
    server.script(ok('{"items": 3}'));
    expect((await feed.call("deploy")).failed).to.match(/\/page is not a feed: it is JSON, but has no items/);
  });

  it("has room for ten feeds in its db, and takes no more", async () => {
    const urls = Array.from({ length: 10 }, (_, i) => `${origin}/${i}`);
    const feed = await openSource(sandboxes, KEY, { urls });
    server.script(ok(rss(1, 150), { etag: `"${"e".repeat(64)}"` }));
    expect((await feed.call("deploy")).failed).to.equal(null);
    server.script(ok(rss(151, 300), { etag: `"${"f".repeat(64)}"` }));
    expect(await feed.events()).to.have.length(1500);
    expect(JSON.stringify(feed.db()).length).to.be.below(60 * 1024);
    feed.configure({ urls: [...urls, `${origin}/10`] });
    expect((await feed.run()).failed).to.match(/these are 11 feeds, and a source reads 10/);
  });
});

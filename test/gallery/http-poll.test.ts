import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Received, type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { openSource } from "./open-shipped.ts";

const KEY = "headwater-http-poll";
interface Item {
  id: number;
  at: string;
}
const itemsTo = (n: number): Item[] =>
  Array.from({ length: n }, (_, i) => ({
    id: i + 1,
    at: new Date(Date.UTC(2024, 0, 1) + 60_000 * i).toISOString(),
  }));
const json = (body: unknown, headers: Record<string, string> = {}): Reply => ({
  status: 200,
  headers,
  body: JSON.stringify(body),
});
const ids = (events: unknown[]) => (events as Item[]).map(({ id }) => id);

describe("the gallery's poll of a JSON API", () => {
  let sandboxes: Sandboxes;
  let server: Receiver;
  let origin: string;
  /** What the API has, the oldest first. */
  let items: Item[];
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    items = itemsTo(3);
    server = await startReceiver();
    origin = new URL(server.url).origin;
  });
  afterEach(() => server.close());
  after(() => sandboxes?.close());

  const open = (configured: Record<string, unknown> = {}) =>
    openSource(sandboxes, KEY, { url: `${origin}/items?q=1`, ...configured });
  const queryOf = ({ path }: Received) => new URL(path, origin).searchParams;
  const newestFirst = () => [...items].reverse();

  it("emits what is new since it was deployed, the oldest first, each once", async () => {
    const poll = await open({
      items: "data.items",
      summary: "no. {{id}} at {{at}}",
      time: "at",
      authorization: "Bearer t0ken",
    });
    server.script(() => json({ data: { items: newestFirst() } }));
    expect((await poll.call("deploy")).emits).to.deep.equal([]);
    items = itemsTo(130);
    const { emits } = await poll.run();
    expect(ids(emits.map(one => one.event))).to.deep.equal(items.slice(3).map(({ id }) => id));
    expect(emits[0]?.metadata).to.include({
      summary: "no. 4 at 2024-01-01T00:03:00.000Z",
      ts: Date.UTC(2024, 0, 1, 0, 3),
    });
    expect(await poll.events()).to.deep.equal([]);
    expect(server.requests.at(-1)?.headers).to.include({
      authorization: "Bearer t0ken",
      accept: "application/json",
    });
  });

  it("emits a changed item again only if it is told to, and begins with as many as it is told to", async () => {
    const [news, changes] = [await open({ backfill: 2 }), await open({ emits: "changed" })];
    server.script(() => json(newestFirst()));
    expect(ids((await news.call("deploy")).emits.map(one => one.event))).to.deep.equal([2, 3]);
    await changes.call("deploy");
    items = items.map(one => (one.id === 2 ? { ...one, at: "later" } : one));
    expect(await news.events()).to.deep.equal([]);
    expect(ids(await changes.events())).to.deep.equal([2]);
    expect(await changes.events()).to.deep.equal([]);
  });

  const PAGES: Record<
    string,
    { props: object; respond: (page: Item[], number: number, isLast: boolean) => Reply }
  > = {
    "by number": { props: { pages: "number", pageParameter: "p" }, respond: page => json(page) },
    "by offset": { props: { pages: "offset" }, respond: page => json(page) },
    "by a cursor": {
      props: { pages: "cursor", cursorPath: "next", items: "list", pageParameter: "from" },
      respond: (page, number, isLast) => json({ list: page, next: isLast ? null : `c${number + 1}` }),
    },
    "by an address in the response": {
      props: { pages: "cursor", cursorPath: "next", items: "list" },
      respond: (page, number, isLast) =>
        json({ list: page, next: isLast ? null : `/items?page=${number + 1}` }),
    },
    "by the Link header": {
      props: { pages: "link" },
      respond: (page, number, isLast) =>
        json(
          page,
          isLast ? {} : { link: `</items?page=1>; rel="first", </items?page=${number + 1}>; rel="next"` },
        ),
    },
  };
  for (const [name, { props, respond }] of Object.entries(PAGES)) {
    it(`follows pages ${name}, up to those that it knows`, async () => {
      const SIZE = 10;
      items = itemsTo(25);
      server.script(request => {
        const query = queryOf(request);
        const [cursor, offset] = [query.get("from")?.slice(1), query.get("offset")];
        const number =
          offset === null
            ? Number(cursor ?? query.get("p") ?? query.get("page") ?? 1)
            : Number(offset) / SIZE + 1;
        const page = newestFirst().slice((number - 1) * SIZE, number * SIZE);
        return respond(page, number, number * SIZE >= items.length);
      });
      const poll = await open(props as Record<string, unknown>);
      await poll.call("deploy");
      items = itemsTo(37);
      expect(ids(await poll.events())).to.deep.equal(items.slice(25).map(({ id }) => id));
      const asked = server.requests.length;
      expect(await poll.events()).to.deep.equal([]);
      expect(server.requests.length - asked, "pages of a look without news").to.equal(1);
    });
  }

  it("asks for newer items only, with an overlap, and loses nothing of what appears late or at the same time", async () => {
    const base = Date.now();
    const at = (seconds: number) => new Date(base + 1000 * seconds).toISOString();
    items = [{ id: 1, at: at(-3600) }];
    server.script(request => {
      const since = queryOf(request).get("since") ?? "";
      return json(items.filter(one => one.at >= since));
    });
    const poll = await open({ sinceParameter: "since", time: "at", order: "oldest", overlap: 60 });
    await poll.call("deploy");
    const since = () => Date.parse(queryOf(server.requests.at(-1) as Received).get("since") ?? "") - base;
    expect(since()).to.be.closeTo(-60_000, 10_000);
    items.push({ id: 2, at: at(-1) }, { id: 3, at: at(-1) });
    expect(ids(await poll.events())).to.deep.equal([2, 3]);
    // It appears after newer ones, and a clock that is ahead moves nothing on.
    items.push({ id: 4, at: at(-30) }, { id: 5, at: at(86_400) });
    expect(ids(await poll.events())).to.deep.equal([4, 5]);
    items.push({ id: 6, at: at(0) });
    expect(ids(await poll.events())).to.deep.equal([6]);
    expect(await poll.events()).to.deep.equal([]);
  });

  it("ends with pages that go round in a circle, or have no end, and says that items were left out", async () => {
    server.script(request => json(newestFirst(), { link: `<${request.path}&again=1>; rel="next"` }));
    const poll = await open({ pages: "link" });
    expect((await poll.call("deploy")).failed).to.equal(null);
    expect(server.requests).to.have.length(2);
    // Every page has others.
    let last = 3;
    server.script(request => {
      last += 1;
      return json([{ id: last }], { link: `<${request.path}&n=${last}>; rel="next"` });
    });
    const endless = await open({ pages: "link", mostPages: 4 });
    expect((await endless.call("deploy")).failed).to.equal(null);
    const { emits, failed } = await endless.run();
    expect(emits).to.have.length(4);
    expect(failed).to.match(/more than 4 pages of new items/);
  });

  it("takes its authorization to no other site", async () => {
    const other = await startReceiver(json([]));
    server.script(json(newestFirst(), { link: `<${other.url}/items>; rel="next"` }));
    const poll = await open({ pages: "link", authorization: "Bearer t0ken" });
    expect((await poll.call("deploy")).failed).to.equal(
      `the next page is on another site, ${new URL(other.url).origin}`,
    );
    expect(other.requests).to.deep.equal([]);
    await other.close();
  });

  it("waits as long as the API asks, and then goes on where it was", async () => {
    const poll = await open();
    server.script(() => json(newestFirst()));
    await poll.call("deploy");
    items = itemsTo(5);
    server.script({ status: 503, headers: { "retry-after": "3600" }, body: "busy" }, () =>
      json(newestFirst()),
    );
    expect((await poll.run()).failed).to.equal(`${origin}/items responded with status 503: busy`);
    expect(await poll.events()).to.deep.equal([]);
    expect(server.requests).to.have.length(2);
    Object.assign(poll.db(), { wait_until_ms: Date.now() });
    expect(ids(await poll.events())).to.deep.equal([4, 5]);
  });

  it("heeds a date by the clock of who says it, for a day at most, and none that is over", async () => {
    const waits = async (status: number, retryAfter: string, date?: string) => {
      const poll = await open();
      server.script({ status, headers: { "retry-after": retryAfter, ...(date && { date }) }, body: "busy" });
      expect((await poll.run()).failed).to.match(new RegExp(`status ${status}: busy$`));
      const until = poll.db().wait_until_ms as number | undefined;
      return until === undefined ? null : Math.round((until - Date.now()) / 60_000);
    };
    const at = (minutes: number) => new Date(Date.now() + 60_000 * minutes).toUTCString();
    expect(await waits(429, at(10))).to.equal(10);
    expect(await waits(429, at(-50), at(-60)), "its clock is an hour slow").to.equal(10);
    expect(await waits(429, at(70), at(60)), "its clock is an hour fast").to.equal(10);
    expect(await waits(429, at(-10)), "is over").to.equal(null);
    expect(await waits(429, "soon")).to.equal(null);
    expect(await waits(503, "99999999")).to.equal(24 * 60);
    // Nothing will be there later: the next look tries again, and fails again.
    expect(await waits(410, "60")).to.equal(null);
  });

  it("knows an item whose id becomes a text, and takes another id for another item", async () => {
    const poll = await open();
    server.script(() => json(newestFirst()));
    await poll.call("deploy");
    server.script(
      json([{ id: "3" }, { id: "2" }, { id: "1" }]),
      json([{ id: "new-3" }, { id: 2 }, { id: 1 }]),
    );
    expect(await poll.events()).to.deep.equal([]);
    expect(await poll.events()).to.deep.equal([{ id: "new-3" }]);
  });

  it("says what is wrong with a response, a path or the number of items", async () => {
    const failure = async (reply: Reply, configured = {}) => {
      server.script(reply);
      return (await (await open(configured)).call("deploy")).failed;
    };
    expect(await failure({ status: 200, body: "<html>Sign in</html>" })).to.equal(
      `${origin}/items did not respond with JSON: Sign in`,
    );
    expect(await failure(json({ list: [] }), { items: "lists" })).to.equal(
      `${origin}/items has no list at lists`,
    );
    expect(await failure(json({ message: "Bad credentials" }))).to.match(
      /no list at the top of its response$/,
    );
    expect(await failure({ status: 401, body: '{"message":"Bad credentials"}' })).to.match(
      /status 401: Bad credentials$/,
    );
    expect(await failure(json(itemsTo(2001)))).to.match(/has 2001 items, and 2000 can be told apart/);
    expect(await failure(json(itemsTo(2000)))).to.equal(null);
    expect(await failure(json([]), { sinceParameter: "since" })).to.match(/Time of an item is needed, too/);
  });

  it("sends a body by POST, and knows items without an id by their content", async () => {
    const poll = await open({ body: { query: "all" }, items: "rows" });
    server.script(json({ rows: [{ a: 1 }] }), json({ rows: [{ a: 1 }, { a: 2 }] }));
    await poll.call("deploy");
    expect(await poll.events()).to.deep.equal([{ a: 2 }]);
    expect(server.requests[0]).to.include({ method: "POST", raw: '{"query":"all"}' });
  });
});

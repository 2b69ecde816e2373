import { createHmac } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { timerOf } from "../../src/props/configure.ts";
import { timerEvent } from "../../src/props/timer.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { read } from "../docs/repository.ts";
import { openExample, openTestSandboxes } from "./open-example.ts";

describe("the example components", () => {
  let sandboxes: Sandboxes;
  let server: Server;
  let origin: string;
  let page: { status?: number; etag?: string; body: string };
  const requests: { path: string; etag: string | undefined }[] = [];

  before(async () => {
    sandboxes = await openTestSandboxes();
    server = createServer((request, response) => {
      requests.push({ path: request.url ?? "", etag: request.headers["if-none-match"] });
      if (page.etag !== undefined && request.headers["if-none-match"] === page.etag)
        return response.writeHead(304).end();
      response
        .writeHead(page.status ?? 200, page.etag === undefined ? {} : { etag: page.etag })
        .end(page.body);
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await sandboxes?.close();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  it("are exactly these", async () => {
    const files = await readdir(new URL("../../examples/components/", import.meta.url));
    expect(files.sort()).to.deep.equal([
      "README.md",
      "cron-heartbeat.mjs",
      "github-webhook.mjs",
      "hello.mjs",
      "relay.ts",
      "rss-feed.mjs",
      "url-watcher.mjs",
    ]);
  });

  describe("github-webhook", () => {
    const secret = "a secret";
    const delivery = (name: string, body: object, headers: Record<string, string> = {}) => {
      const bodyRaw = JSON.stringify(body, null, 1);
      const signature = `sha256=${createHmac("sha256", secret).update(bodyRaw).digest("hex")}`;
      return {
        method: "POST",
        path: "/",
        query: {},
        headers: {
          "x-github-event": name,
          "x-github-delivery": "d-1",
          "x-hub-signature-256": signature,
          ...headers,
        },
        bodyRaw,
        body,
        url: "http://127.0.0.1/in/x",
        client_ip: "127.0.0.1",
      };
    };
    const open = (events?: string[]) =>
      openExample(sandboxes, "github-webhook.mjs", { secret, ...(events && { events }) });

    it("responds to the request itself", async () => {
      const { description } = await open();
      expect(description).to.include({
        key: "github-webhook",
        usesRespond: true,
        hasRun: true,
        dedupe: "unique",
      });
      expect(description.props.find(prop => prop.name === "http")).to.include({ customResponse: true });
    });

    it("emits a genuine delivery under its id", async () => {
      const { call } = await open();
      const { emits, responses } = await call("run", delivery("push", { repository: { full_name: "a/b" } }));
      expect(responses.map(({ status }) => status)).to.deep.equal([202]);
      expect(emits[0]?.metadata).to.include({ id: "d-1", summary: "push in a/b" });
      expect(emits[0]?.event).to.deep.equal({
        event: "push",
        delivery: "d-1",
        payload: { repository: { full_name: "a/b" } },
      });
    });

    for (const forged of ["sha256=00", `sha256=${"0".repeat(64)}`, ""]) {
      it(`responds with 401 and emits nothing for the signature "${forged}"`, async () => {
        const { call } = await open();
        const { emits, responses } = await call(
          "run",
          delivery("push", {}, { "x-hub-signature-256": forged }),
        );
        expect([emits.length, responses[0]?.status]).to.deep.equal([0, 401]);
      });
    }

    it("emits neither pings nor events that are not selected", async () => {
      const { call } = await open(["issues"]);
      for (const name of ["ping", "push"]) {
        const { emits, responses } = await call("run", delivery(name, {}));
        expect([emits.length, responses[0]?.status]).to.deep.equal([0, 200]);
      }
    });
  });

  describe("rss-feed", () => {
    const item = (id: number) =>
      `<item><title>Item ${id}</title><guid>g-${id}</guid><link>http://x/${id}</link><pubDate>Wed, 0${id} May 2024 08:00:00 GMT</pubDate></item>`;
    const rss = (...ids: number[]) =>
      `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${ids.map(item).join("")}</channel></rss>`;
    const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title>
      <entry><title>Note</title><id>n-1</id><link href="http://x/n"/><updated>2024-05-01T08:00:00Z</updated></entry></feed>`;

    it("emits the items of an RSS feed with their ids and dates", async () => {
      page = { body: rss(2, 1) };
      const { call, description } = await openExample(sandboxes, "rss-feed.mjs", { url: `${origin}/feed` });
      expect(timerOf(description.props, {})).to.deep.equal({ name: "timer", intervalSeconds: 900 });
      const { emits } = await call("run", timerEvent({ intervalSeconds: 900 }, Date.now()));
      expect(emits.map(({ metadata }) => [metadata.id, metadata.summary, metadata.ts])).to.deep.equal([
        ["g-2", "Item 2", Date.UTC(2024, 4, 2, 8)],
        ["g-1", "Item 1", Date.UTC(2024, 4, 1, 8)],
      ]);
      expect(emits[0]?.event).to.include({ feed: "News", link: "http://x/2" });
    });

    it("also reads Atom", async () => {
      page = { body: atom };
      const { call } = await openExample(sandboxes, "rss-feed.mjs", { url: `${origin}/atom` });
      const { emits } = await call("run", {});
      expect(emits.map(({ metadata }) => metadata.id)).to.deep.equal(["n-1"]);
    });

    it("requests only a changed feed", async () => {
      page = { body: rss(1), etag: '"v1"' };
      const { call } = await openExample(sandboxes, "rss-feed.mjs", { url: `${origin}/etag` });
      await call("run", {});
      const { emits } = await call("run", {});
      expect(emits).to.deep.equal([]);
      expect(requests.filter(({ path }) => path === "/etag").map(({ etag }) => etag)).to.deep.equal([
        undefined,
        '"v1"',
      ]);
    });

    it("fails if there is no feed", async () => {
      page = { status: 500, body: "" };
      const { call } = await openExample(sandboxes, "rss-feed.mjs", { url: `${origin}/down` });
      const error = await call("run", {}).catch((thrown: Error) => thrown);
      expect(error)
        .to.be.an("error")
        .with.property("message")
        .that.matches(/down responded with status 500/)
        .and.matches(/rss-feed\.mjs:\d+/);
    });
  });

  describe("hello", () => {
    it("greets whom a request names, and is what the README shows", async () => {
      const { call } = await openExample(sandboxes, "hello.mjs", {});
      const { emits } = await call("run", { body: { name: "world" } });
      expect(emits).to.deep.equal([{ event: { hello: "world" }, metadata: { summary: "said hello" } }]);
      const [, shown] = /^```js\n(.*?)^```/ms.exec(read("README.md")) ?? [];
      expect(read("examples/components/hello.mjs").replace(/^\/\/.*\n/, "")).to.equal(shown);
    });
  });

  describe("cron-heartbeat", () => {
    it("counts its beats and says when each was due", async () => {
      const timer = { cron: "0 8 * * *", timezone: "Europe/Berlin" };
      const { call, description } = await openExample(sandboxes, "cron-heartbeat.mjs", { timer });
      expect(timerOf(description.props, { timer })).to.deep.equal({ name: "timer", ...timer });
      const atMs = Date.UTC(2024, 4, 1, 6);
      await call("run", timerEvent(timer, atMs));
      const { emits } = await call("run", timerEvent(timer, atMs + 86_400_000));
      expect(emits.map(({ event }) => event)).to.deep.equal([
        { label: "heartbeat", beat: 2, at: "2024-05-02T06:00:00.000Z" },
      ]);
    });
  });

  describe("url-watcher", () => {
    it("emits when the content changes, and not at the first look", async () => {
      const { call, description } = await openExample(sandboxes, "url-watcher.mjs", {
        url: `${origin}/page`,
      });
      expect(description.hooks).to.deep.equal(["deploy"]);
      const emitted: unknown[] = [];
      const look = async (now: typeof page, what: "deploy" | "run" = "run") => {
        page = now;
        emitted.push((await call(what, {})).emits.length);
      };
      await look({ body: "one" }, "deploy");
      await look({ body: "one" });
      await look({ body: "two", etag: '"2"' });
      await look({ body: "two", etag: '"2"' });
      await look({ body: "two", etag: '"3"' });
      await look({ body: "three", etag: '"4"' });
      expect(emitted).to.deep.equal([0, 0, 1, 0, 0, 1]);
    });
  });

  describe("relay", () => {
    it("emits matching events again, on its own channel", async () => {
      const props = { channel: "opened", field: "payload.action", equals: "opened" };
      const { call } = await openExample(sandboxes, "relay.ts", props);
      const event = { payload: { action: "opened" } };
      expect((await call("run", event)).emits).to.deep.equal([{ event, metadata: { name: "opened" } }]);
      for (const other of [{ payload: { action: "closed" } }, { payload: null }, "text", null]) {
        expect((await call("run", other)).emits).to.deep.equal([]);
      }
    });

    it("emits everything if no field is configured", async () => {
      const { call } = await openExample(sandboxes, "relay.ts", {});
      expect((await call("run", 5)).emits).to.deep.equal([{ event: 5, metadata: { name: "relayed" } }]);
    });
  });
});

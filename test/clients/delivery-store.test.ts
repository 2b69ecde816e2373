import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import { MemoryStore, nodeHandler } from "../../clients/typescript/src/webhooks/index.ts";
import { until } from "../support/until.ts";
import { deliver, type Listening, listen, secret } from "./receivers.ts";

describe("a receiver with a store", () => {
  let server: Listening;
  let handled: unknown[];
  let handle: () => unknown;
  beforeEach(async () => {
    handled = [];
    handle = () => undefined;
    const options = { secrets: secret, store: new MemoryStore(), onError: () => undefined };
    server = await listen(
      nodeHandler(options, async ({ id }) => {
        await handle();
        handled.push(id);
      }),
    );
  });
  afterEach(() => server.close());

  it("handles a delivery once, and responds with success to its further attempts", async () => {
    const first = await deliver(server.url, 1, { id: "dlv_a" });
    const second = await deliver(server.url, 1, { id: "dlv_a" });
    await deliver(server.url, 1, { id: "dlv_b" });
    expect([first.text, second.text]).to.deep.equal(["handled", "handled before"]);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(handled).to.deep.equal(["dlv_a", "dlv_b"]);
  });

  it("rejects a delivery without an id, which the store can't know again", async () => {
    const plain = await listen(
      nodeHandler(
        { secrets: secret, store: new MemoryStore(), signature: "x-pd-signature" },
        () => undefined,
      ),
    );
    const { status, text } = await deliver(plain.url, 1, { headers: { "webhook-id": "" } });
    await plain.close();
    expect([status, text]).to.deep.equal([
      400,
      "webhook-id: the request has no such header, and the store needs it",
    ]);
  });

  it("handles the next attempt of one whose handler failed", async () => {
    handle = () => {
      throw new Error("not now");
    };
    expect((await deliver(server.url, 1)).status).to.equal(500);
    handle = () => undefined;
    expect((await deliver(server.url, 1)).text).to.equal("handled");
    expect(handled).to.deep.equal(["dlv_1"]);
  });

  it("lets the same delivery come again later while it is being handled", async () => {
    const gate = new EventEmitter();
    handle = () => once(gate, "open");
    const first = deliver(server.url, 1);
    await until(() => gate.listenerCount("open") > 0);
    const second = await deliver(server.url, 1);
    expect([second.status, second.headers.get("retry-after")]).to.deep.equal([409, "30"]);
    gate.emit("open");
    expect((await first).status).to.equal(200);
    expect(handled).to.deep.equal(["dlv_1"]);
  });
});

describe("the store in memory", () => {
  it("forgets what was handled after a while, and the claim of a handler that never ended", () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now, claimMs: 10, rememberMs: 100 });
    expect(store.claim("a")).to.equal("claimed");
    expect(store.claim("a")).to.equal("handling");
    now = 11;
    expect(store.claim("a")).to.equal("claimed");
    store.markHandled("a");
    now = 110;
    expect(store.claim("a")).to.equal("handled");
    now = 111;
    expect(store.claim("a")).to.equal("claimed");
  });

  it("remembers a bounded number", () => {
    const store = new MemoryStore({ maxIds: 2 });
    for (const id of ["a", "b", "c"]) {
      store.claim(id);
      store.markHandled(id);
    }
    expect(["b", "c", "a"].map(id => store.claim(id))).to.deep.equal(["handled", "handled", "claimed"]);
  });
});

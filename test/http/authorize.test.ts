import { expect } from "chai";
import { openAuthenticate } from "../../src/accounts/sessions/authenticate.ts";
import { createUser } from "../../src/accounts/users.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { openTestPlatform } from "../support/platform.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";

const ANN = { userId: "u_ann", keyId: "key_ann", orgIds: [], roles: {} };

describe("API keys that a web process looks up", () => {
  let demo: DemoServer;
  /** Keys that were looked up, in order. */
  const lookedUp: string[] = [];
  const counted: string[] = [];
  let isRevoked = false;
  beforeEach(async () => {
    lookedUp.splice(0);
    counted.splice(0);
    isRevoked = false;
    demo = await startDemo({
      authenticate: async key => {
        lookedUp.push(key);
        await new Promise(resolve => setImmediate(resolve));
        return key === "key-ann" && !isRevoked ? ANN : null;
      },
      isKey: key => key.startsWith("key-"),
      rateLimit: async (_ctx, keyId) => void counted.push(keyId),
    });
  });
  afterEach(() => demo.close());

  const ask = async (key: string) => (await demo.send({ path: "/v1/things/t_one", key })).status;
  const flood = (count: number, keyOf: (i: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, i) => ask(keyOf(i))));

  it("are at most 60 unknown ones a minute from an address, also at once, and then none but those it has seen", async () => {
    expect(await ask("key-ann")).to.equal(200);
    lookedUp.splice(0);
    const statuses = await flood(300, i => `key-${i}`);
    expect(statuses.filter(status => status === 401)).to.have.length(LIMITS.unknownKeys.value);
    expect(statuses.filter(status => status === 429)).to.have.length(240);
    expect(lookedUp).to.have.length(LIMITS.unknownKeys.value);
    expect(await ask("key-new")).to.equal(429);
    expect(await ask("key-ann")).to.equal(200);
    const { headers } = await demo.send({ path: "/v1/things/t_one", key: "key-new" });
    expect(Number(headers["retry-after"])).to.be.within(1, 60);
  });

  it("are none for what can't be a key, and one for the same unknown key again and again", async () => {
    expect(new Set(await flood(200, i => `other-${i}`))).to.deep.equal(new Set([401]));
    expect(lookedUp).to.deep.equal([]);
    for (let i = 0; i < 100; i++) expect(await ask("key-eve")).to.equal(401);
    expect(lookedUp).to.deep.equal(["key-eve"]);
  });

  it("that are valid are not counted for the address, however many there are", async () => {
    for (let i = 0; i < 100; i++) expect(await ask("key-ann")).to.equal(200);
    expect(await ask("key-eve")).to.equal(401);
  });

  it("are counted against their own rate limit once a request, before the look-up if they were seen", async () => {
    expect(await ask("key-ann")).to.equal(200);
    isRevoked = true;
    expect(await ask("key-ann")).to.equal(401);
    expect(counted).to.deep.equal(["key_ann", "key_ann"]);
  });

  it("are valid or not at the time of each request", async () => {
    expect(await ask("key-ann")).to.equal(200);
    isRevoked = true;
    expect(await ask("key-ann")).to.equal(401);
  });

  it("share queries when they arrive together", async () => {
    const platform = await openTestPlatform();
    try {
      const { id, api_key } = await createUser(platform, { email: "a@example.test" });
      let queries = 0;
      const keys = ApiKeys(platform.mongo);
      const find = keys.find.bind(keys) as (...args: unknown[]) => unknown;
      Object.assign(keys, {
        find: (...args: unknown[]) => {
          queries += 1;
          return find(...args);
        },
      });
      const findCaller = openAuthenticate(platform);
      const unknown = Array.from({ length: 300 }, (_, i) => `hw_${String(i).padStart(32, "0")}`);
      const found = await Promise.all([...unknown, api_key].map(findCaller));
      expect(found.at(-1)).to.include({ userId: id });
      expect(found.slice(0, -1).every(caller => caller === null)).to.equal(true);
      expect(queries).to.be.below(10);
    } finally {
      await platform.destroy();
    }
  });
});

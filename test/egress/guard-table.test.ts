import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { isPublicAddress, mayConnect } from "../../src/egress/address-rules.ts";
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from "../../src/egress/agent.ts";
import { createDial } from "../../src/egress/dial.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { createResolver } from "../../src/egress/resolve.ts";
import { type ConnectionWatch, startTripwire, type Tripwire, watchConnections } from "./connections.ts";
import { BLOCKED, BLOCKED_HOSTS, PUBLIC, ZONE } from "./guard-table.ts";
import { type NameServer, startNameServer } from "./name-server.ts";

const GET: EgressRequest = { method: "GET", timeoutMs: 5000, maxResponseBytes: 1000 };
const MS = 2000;

describe("the egress guard", () => {
  let names: NameServer;
  let tripwire: Tripwire;
  let watch: ConnectionWatch;
  const open: Egress[] = [];

  before(async () => {
    names = await startNameServer({ ...ZONE });
    tripwire = await startTripwire();
    watch = watchConnections();
  });
  after(async () => {
    watch.close();
    await tripwire.close();
    await names.close();
  });
  afterEach(() => Promise.all(open.splice(0).map(one => one.close())));

  const options = (given: Partial<EgressOptions> = {}): EgressOptions => ({
    allow: [],
    blockedHosts: [],
    connectTimeoutMs: MS,
    resolve: createResolver(MS, names.resolver),
    ...given,
  });
  const egress = (given: Partial<EgressOptions> = {}): Egress => {
    const made = createEgress(options(given));
    open.push(made);
    return made;
  };
  const at = (url: string) => url.replaceAll("PORT", String(tripwire.port));

  /** Returns the result or error of `work`, how many sockets it opened, and how many connections arrived here. */
  async function observe<T>(work: () => Promise<T>) {
    const before = tripwire.accepted();
    const { result, sockets } = await watch.count(() => work().catch((error: unknown) => error));
    return { result, sockets, accepted: tripwire.accepted() - before };
  }
  const request = (url: string, given?: Partial<EgressOptions>) =>
    observe(() => egress(given).request(at(url), GET));

  function expectBlocked(found: Awaited<ReturnType<typeof request>>, code: string): void {
    expect(found.result).to.be.instanceOf(EgressError).with.property("code", code);
    expect(found).to.include({ sockets: 0, accepted: 0 });
  }

  it("is tested by a watch that sees an allowed connection on both ends", async () => {
    for (const host of ["127.0.0.1", "[::1]", "loopback.test", "loopback6.test", "2130706433"]) {
      const found = await request(`http://${host}:PORT/`, { allow: ["127.0.0.0/8", "::1"] });
      expect(found.result, host).to.have.property("status", 200);
      expect(found, host).to.include({ sockets: 1, accepted: 1 });
    }
  });

  for (const [what, url, code] of BLOCKED) {
    it(`opens nothing to ${JSON.stringify(url)} (${what}): ${code}`, async () => {
      expectBlocked(await request(url), code);
    });
  }

  for (const host of BLOCKED_HOSTS) {
    it(`opens nothing for sandboxed code that asks for ${host}`, async () => {
      const dial = createDial(options());
      expectBlocked(await observe(() => dial(host, tripwire.port)), "blocked-address");
    });
  }

  for (const ip of PUBLIC) {
    it(`permits ${ip}`, () => {
      expect(isPublicAddress(ip)).to.equal(true);
      expect(mayConnect({ allow: [], deny: () => false }, ip, 443)).to.equal(true);
    });
  }

  it("resolves a name once for each connection, and connects to the address it checked (DNS rebinding)", async () => {
    let lookups = 0;
    // A lookup asks for both address families: the first two questions get an allowed address, all later ones loopback.
    const rebound = await startNameServer({
      "rebind.test": () => (lookups++ < 2 ? ["127.9.9.9"] : ["127.0.0.1"]),
    });
    const given = { allow: ["127.9.9.9"], resolve: createResolver(MS, rebound.resolver) };
    try {
      const to: string[] = [];
      const dial = createDial(options(given));
      const first = await observe(async () => {
        const socket = await dial("rebind.test", tripwire.port);
        to.push(socket.remoteAddress ?? "");
        socket.destroy();
      });
      expect(first).to.include({ sockets: 1, accepted: 1 });
      expect(to).to.deep.equal(["127.9.9.9"]);
      expect(rebound.lookups).to.have.length(2);
      expectBlocked(await observe(() => dial("rebind.test", tripwire.port)), "blocked-address");
    } finally {
      await rebound.close();
    }
  });

  for (const target of [
    "http://127.0.0.1:PORT/",
    "http://[::1]:PORT/",
    "http://localhost:PORT/",
    "//127.0.0.1:PORT/",
    "http://169.254.169.254/latest/meta-data/",
  ]) {
    for (const status of [301, 302, 303, 307, 308]) {
      it(`opens nothing to ${target} when a receiver redirects there with ${status}`, async () => {
        const receiver = createServer((_request, response) => {
          response.writeHead(status, { location: at(target) }).end();
        });
        await new Promise<void>(done => receiver.listen(0, "127.0.0.3", done));
        const { port } = receiver.address() as AddressInfo;
        try {
          const found = await request(`http://127.0.0.3:${port}/`, { allow: ["127.0.0.3"] });
          expect(found.result).to.have.property("status", status);
          expect(found).to.include({ sockets: 1, accepted: 0 });
        } finally {
          receiver.closeAllConnections();
          await new Promise(done => receiver.close(done));
        }
      });
    }
  }

  describe("for the platform's own stores", () => {
    const EVERYTHING = ["0.0.0.0/0", "::/0"];
    const spelled = ["127.0.0.1", "127.1.2.3", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "localhost"];

    for (const host of [
      ...spelled,
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "[::127.0.0.1]",
      "loopback.test",
    ]) {
      it(`opens nothing to a store spelled ${host}, even if every address is allowed`, async () => {
        const blockedHosts = [{ host: "store.test", port: tripwire.port }];
        const zone = await startNameServer({ ...ZONE, "store.test": ["127.0.0.1"] });
        try {
          const resolve = createResolver(MS, zone.resolver);
          const found = await request(`http://${host}:PORT/`, { allow: EVERYTHING, blockedHosts, resolve });
          expectBlocked(found, "blocked-address");
        } finally {
          await zone.close();
        }
      });
    }

    for (const host of ["10.7.7.7", "[::ffff:10.7.7.7]", "[64:ff9b::a07:707]", "[2002:a07:707::1]"]) {
      it(`opens nothing to a store on another machine spelled ${host}`, async () => {
        const blockedHosts = [{ host: "10.7.7.7", port: 6379 }];
        expectBlocked(
          await request(`http://${host}:6379/`, { allow: EVERYTHING, blockedHosts }),
          "blocked-address",
        );
      });
    }

    it("opens nothing to a store that was added after the start", async () => {
      const members = [{ host: "10.7.7.7", port: tripwire.port }];
      const client = egress({ allow: EVERYTHING, blockedHosts: () => members });
      const url = `http://127.0.0.1:${tripwire.port}/`;
      const earlier = await observe(() => client.request(url, { ...GET, headers: { connection: "close" } }));
      expect(earlier).to.include({ sockets: 1, accepted: 1 });
      members.push({ host: "127.0.0.1", port: tripwire.port });
      expectBlocked(await observe(() => client.request(url, GET)), "blocked-address");
    });

    it("opens nothing on a store's port while the store's name can't be resolved", async () => {
      const blockedHosts = [{ host: "absent.test", port: tripwire.port }];
      expectBlocked(
        await request("http://127.0.0.1:PORT/", { allow: EVERYTHING, blockedHosts }),
        "blocked-address",
      );
    });
  });
});

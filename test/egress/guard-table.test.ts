import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { readLocalConfig } from "../../src/config.ts";
import {
  effectiveAddresses,
  isOwnAddress as isInterfaceAddress,
  isPublicAddress,
  mayConnect,
  portsIn,
} from "../../src/egress/address-rules.ts";
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from "../../src/egress/agent.ts";
import { createResolver } from "../../src/egress/blocked-hosts.ts";
import { createDial } from "../../src/egress/dial.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
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

  describe("for this machine's own addresses", () => {
    // Public addresses that the test's machine is taken to have.
    const OWN = ["8.8.8.8", "2606:4700:4700::1111"];
    const isOwnAddress = (ip: string) => OWN.includes(ip);
    const zone = { "own.test": ["8.8.8.8"], "own-mixed.test": ["93.184.215.14", "8.8.8.8"] };

    for (const host of [
      "8.8.8.8",
      "[2606:4700:4700::1111]",
      "[2606:4700:4700:0:0:0:0:1111]",
      "134744072",
      "own.test",
      "own-mixed.test",
    ]) {
      it(`opens nothing to ${host}, although it is public`, async () => {
        const own = await startNameServer(zone);
        try {
          const resolve = createResolver(MS, own.resolver);
          for (const path of [`http://${host}:PORT/`, `http://${host}/`]) {
            expectBlocked(await request(path, { isOwnAddress, resolve }), "blocked-address");
          }
        } finally {
          await own.close();
        }
      });
    }

    it("permits the platform's own URLs there, by host and port", async () => {
      const permits = async (host: string, port: number, ownUrls: string[]) => {
        const ended = AbortSignal.abort(new Error("checked"));
        const resolve = async () => ["8.8.8.8"];
        const dial = createDial(options({ isOwnAddress, ownUrls, resolve }));
        const error = await dial(host, port, ended).catch((error: Error) => error);
        return (error as Error).message === "checked";
      };
      const ownUrls = ["https://Hooks.example/base", "http://in.example:8080"];
      expect(await permits("hooks.example", 443, ownUrls)).to.equal(true);
      expect(await permits("in.example", 8080, ownUrls)).to.equal(true);
      expect(await permits("hooks.example", 8080, ownUrls)).to.equal(false);
      expect(await permits("in.example", 22, ownUrls)).to.equal(false);
      expect(await permits("other.example", 443, ownUrls)).to.equal(false);
    });

    it("opens nothing to the platform's own URL if that is not public", async () => {
      const ownUrls = [`http://127.0.0.1:${tripwire.port}`];
      expectBlocked(await request("http://127.0.0.1:PORT/", { ownUrls }), "blocked-address");
    });

    it("knows the addresses of the machine's interfaces", () => {
      const real = Object.values(networkInterfaces()).flatMap(list => list ?? []);
      for (const { address } of real) {
        expect(effectiveAddresses(address.replace(/%.*$/, "")).some(isInterfaceAddress), address).to.equal(
          true,
        );
      }
      expect(isInterfaceAddress("93.184.215.14")).to.equal(false);
    });
  });

  describe("for networks and ports that a setting blocks", () => {
    for (const host of ["93.184.215.14", "[64:ff9b::5db8:d70e]", "[2606:4700:1::1]"]) {
      it(`opens nothing to ${host}, even if every address is allowed`, async () => {
        const given = { allow: ["0.0.0.0/0", "::/0"], blocked: ["93.184.215.0/24", "2606:4700:1::/48"] };
        const found = await request(`http://${host}:PORT/`, given);
        expect(found.result).to.include({ code: "blocked-address" });
      });
    }

    it("opens nothing to a blocked port, by URL or from sandboxed code", async () => {
      const given = {
        allow: ["127.0.0.0/8"],
        blockedPorts: ["25", `${tripwire.port - 1}-${tripwire.port + 1}`],
      };
      expectBlocked(await request("http://127.0.0.1:PORT/", given), "blocked-address");
      expectBlocked(await request("http://93.184.215.14:25/", given), "blocked-address");
      const dial = createDial(options(given));
      expectBlocked(await observe(() => dial("127.0.0.1", tripwire.port)), "blocked-address");
    });

    it("blocks mail by default, and nothing with the setting none", () => {
      const { egress } = readLocalConfig({});
      for (const port of [25, 465, 587, 2525]) expect(portsIn(egress.blockedPorts)(port)).to.equal(true);
      for (const port of [80, 443, 5432, 8443]) expect(portsIn(egress.blockedPorts)(port)).to.equal(false);
      expect(portsIn(readLocalConfig({ EGRESS_BLOCK: "none" }).egress.blockedPorts)(25)).to.equal(false);
      for (const EGRESS_BLOCK of ["0", "70000", "20-10", "smtp"]) {
        expect(() => readLocalConfig({ EGRESS_BLOCK })).to.throw(/EGRESS_BLOCK/);
      }
      const both = readLocalConfig({ EGRESS_BLOCK: "192.0.2.0/24,135-139" }).egress;
      expect(both.blocked).to.deep.equal(["192.0.2.0/24"]);
      expect([135, 25].map(portsIn(both.blockedPorts))).to.deep.equal([true, false]);
      expect(portsIn(readLocalConfig({ EGRESS_BLOCK: "192.0.2.0/24" }).egress.blockedPorts)(25)).to.equal(
        true,
      );
    });
  });

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

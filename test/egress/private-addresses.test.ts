import { expect } from "chai";
import { createAddressCheck } from "../../src/egress/dial.ts";
import { parsePrivateAddress, showPrivateAddress } from "../../src/egress/private-addresses.ts";

describe("private addresses", () => {
  it("are written in one way", () => {
    const shown = (text: string) => showPrivateAddress(parsePrivateAddress(text));
    expect(shown("10.0.0.5:5432")).to.equal("10.0.0.5:5432");
    expect(shown("[FD00:0:0::0005]:80")).to.equal("[fd00::5]:80");
    expect(shown("DB.Internal:5432")).to.equal("db.internal:5432");
    expect(shown("postgres:1")).to.equal("postgres:1");
    expect(shown("127.0.0.1:65535")).to.equal("127.0.0.1:65535");
  });

  it("are one host and one port, of what a database may have", () => {
    for (const text of [
      ...[
        "",
        "10.0.0.5",
        "10.0.0.5:",
        "10.0.0.5:0",
        "10.0.0.5:65536",
        "10.0.0.5:080",
        "10.0.0.5:5432/x",
        ":80",
      ],
      ...[
        "10.0.0.0/8:80",
        "*:80",
        "a b:80",
        "user@host:80",
        "http://10.0.0.5:80",
        "[10.0.0.5]:80:80",
        "::1:80",
      ],
      ...["0x7f.0.0.1:80", "127.1:80", "2130706433:80", "010.0.0.1:80", "a..b:80", "-a:80", "a.0x7f:80"],
      ...[
        "0.0.0.0:80",
        "169.254.169.254:80",
        "224.0.0.1:80",
        "255.255.255.255:80",
        "[::]:80",
        "[fe80::1]:80",
      ],
      ...[
        "[::ffff:10.0.0.5]:80",
        "[64:ff9b::a00:5]:80",
        "[fe80::1%eth0]:80",
        "localhost:80",
        "x.localhost:80",
      ],
    ]) {
      expect(() => parsePrivateAddress(text), text).to.throw(/^must /);
    }
  });

  describe("are checked at each connection", () => {
    let zone: Record<string, string[]>;
    const check = createAddressCheck({
      allow: [],
      blockedHosts: [{ host: "10.0.0.9", port: 5432 }],
      blocked: ["10.0.9.0/24"],
      blockedPorts: ["25"],
      isOwnAddress: ip => ip === "10.0.0.7" || ip === "127.0.0.1",
      connectTimeoutMs: 1000,
      resolve: async host => zone[host] ?? [host],
    });
    beforeEach(() => {
      zone = {};
    });
    const opened = (...texts: string[]) => texts.map(parsePrivateAddress);
    const rejected = (asked: Promise<string[]>, what: string) =>
      asked.then(
        found => expect.fail(`${what}: ${found.join()}`),
        (error: { code: string }) => expect(error.code, what).to.equal("blocked-address"),
      );

    it("by the address, under whatever name it is found now", async () => {
      const addresses = opened("10.0.0.5:5432", "[fd00::5]:5432", "127.0.0.1:5432");
      zone = { "db.test": ["10.0.0.5"] };
      expect(await check("10.0.0.5", 5432, addresses)).to.deep.equal(["10.0.0.5"]);
      expect(await check("[fd00:0::5]", 5432, addresses)).to.deep.equal(["fd00:0::5"]);
      expect(await check("db.test", 5432, addresses)).to.deep.equal(["10.0.0.5"]);
      expect(await check("127.0.0.1", 5432, addresses), "this machine").to.deep.equal(["127.0.0.1"]);
      await rejected(check("10.0.0.5", 5433, addresses), "another port");
      await rejected(check("10.0.0.6", 5432, addresses), "another address");
      await rejected(check("10.0.0.5", 5432), "nothing is open");
      await rejected(check("::ffff:10.0.0.5", 5432, addresses), "wrapped");
      zone = { "db.test": ["10.0.0.6"] };
      await rejected(check("db.test", 5432, addresses), "the name means another address now");
      zone = { "db.test": ["10.0.0.6", "93.184.215.14"] };
      await rejected(check("db.test", 5432, addresses), "public and private at once");
    });

    it("by the name, within private networks and not this machine", async () => {
      const addresses = opened("db.test:5432");
      for (const ip of ["10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1", "fd12::1"]) {
        zone = { "db.test": [ip], "DB.test.": [ip] };
        expect(await check("db.test", 5432, addresses), ip).to.deep.equal([ip]);
        expect(await check("DB.test.", 5432, addresses), ip).to.deep.equal([ip]);
        await rejected(check(ip, 5432, addresses), `${ip} itself`);
      }
      for (const ip of [
        "10.0.0.7",
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::ffff:10.0.0.5",
        "fe80::1",
      ]) {
        zone = { "db.test": [ip] };
        await rejected(check("db.test", 5432, addresses), ip);
      }
    });

    it("after what is blocked for all", async () => {
      await rejected(check("10.0.0.9", 5432, opened("10.0.0.9:5432")), "a store");
      await rejected(check("10.0.9.1", 5432, opened("10.0.9.1:5432")), "a blocked network");
      await rejected(check("10.0.0.5", 25, opened("10.0.0.5:25")), "a blocked port");
      const none = createAddressCheck({ allow: ["none"], blockedHosts: [], connectTimeoutMs: 1000 });
      await rejected(none("10.0.0.5", 5432, opened("10.0.0.5:5432")), "no network");
    });
  });
});

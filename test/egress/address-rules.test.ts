import { expect } from "chai";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { isPublicAddress, mayConnect, parseCidrs } from "../../src/egress/address-rules.ts";
import { AppError } from "../../src/lib/errors.ts";

const PUBLIC = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255
  198.20.0.0 203.0.112.1 203.0.114.1 223.255.255.255
  2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:830::200e 2400:cb00::1 2620:fe::fe 2001:200::1
`;

const NOT_PUBLIC = `
  0.0.0.0 0.1.2.3 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.254 169.254.0.1
  169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1
  192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
  255.255.255.254 255.255.255.255
  :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8
  64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 1000::1 2001::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1
  2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 3ffe:ffff:ffff::1%eth0 4000::1 5f00::1 8000::1 e000::1
  fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 feff::1 ff02::1 ff0e::1
`;

const words = (text: string) => text.trim().split(/\s+/);
const noDeny = () => false;

describe("address rules", () => {
  for (const ip of words(PUBLIC)) {
    it(`count ${ip} as public`, () => expect(isPublicAddress(ip)).to.equal(true));
  }

  for (const ip of words(NOT_PUBLIC)) {
    it(`do not count ${ip} as public`, () => expect(isPublicAddress(ip)).to.equal(false));
  }

  for (const text of ["", "localhost", "0x7f.1", "2130706433", "010.0.0.1", "1.1.1", "1.1.1.1:80", "[::1]"]) {
    it(`do not count "${text}" as an address`, () => expect(isPublicAddress(text)).to.equal(false));
  }

  it("do not count an IPv4 address embedded in IPv6 as public", () => {
    const prefixes = ["::ffff:", "::", "64:ff9b::", "::ffff:0:"];
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom(...prefixes), (v4, prefix) => !isPublicAddress(prefix + v4)),
    );
  });

  it("permit what the allow list covers, and nothing else", () => {
    const rules = { allow: parseCidrs(["127.0.0.0/8", "fd00::/8", "10.1.2.3"]), deny: noDeny };
    for (const ip of ["127.0.0.1", "127.9.9.9", "fd00::1", "10.1.2.3", "1.1.1.1"]) {
      expect(mayConnect(rules, ip, 80), ip).to.equal(true);
    }
    for (const ip of ["::1", "10.1.2.4", "fc00::1", "::ffff:127.0.0.1", "192.168.0.1"]) {
      expect(mayConnect(rules, ip, 80), ip).to.equal(false);
    }
  });

  it("apply deny before allow", () => {
    const rules = { allow: parseCidrs(["0.0.0.0/0"]), deny: (_ip: string, port: number) => port === 6379 };
    expect(mayConnect(rules, "10.0.0.1", 80)).to.equal(true);
    expect(mayConnect(rules, "10.0.0.1", 6379)).to.equal(false);
    expect(mayConnect(rules, "8.8.8.8", 6379)).to.equal(false);
  });

  it("parse any network that ipaddr.js writes", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, bits) => {
        const [cidr] = parseCidrs([`${ip}/${bits}`]);
        return cidr?.[1] === bits && cidr[0].toString() === ipaddr.parse(ip).toString();
      }),
    );
  });

  for (const entry of [
    "",
    "x",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.0.0/8",
    "fe80::/129",
    "10.0.0.0/a",
  ]) {
    it(`reject the allow entry "${entry}" by name`, () => {
      expect(() => parseCidrs([entry])).to.throw(AppError, entry);
    });
  }
});

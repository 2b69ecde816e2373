import type { EgressErrorCode } from "../../src/egress/egress-error.ts";
import type { Zone } from "./name-server.ts";

/** A URL that must be rejected, and with which code. `PORT` is replaced by a port on which the tripwire listens. */
export type BlockedUrl = readonly [what: string, url: string, code: EgressErrorCode];

const blocked = (what: string, ...hosts: string[]): BlockedUrl[] =>
  hosts.map(host => [what, `http://${host}:PORT/`, "blocked-address"] as const);
const malformed = (what: string, ...urls: string[]): BlockedUrl[] =>
  urls.map(url => [what, url, "invalid-url"] as const);

/** The names of the test's name server, with their IPv4 and IPv6 addresses. */
export const ZONE: Zone = {
  "private.test": ["10.0.0.1"],
  "loopback.test": ["127.0.0.1"],
  "loopback6.test": ["::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "link-local.test": ["fe80::1"],
  "mixed.test": ["93.184.215.14", "127.0.0.1"],
  "mixed-last.test": ["93.184.215.14", "93.184.215.15", "93.184.215.16", "10.0.0.1"],
  "mixed-first.test": ["127.0.0.1", "93.184.215.14"],
  "mixed-family.test": ["93.184.215.14", "::1"],
  "mixed-family6.test": ["2606:4700:4700::1111", "127.0.0.1"],
  "127.0.0.1.nip.test": ["127.0.0.1"],
  "metadata.google.internal": ["169.254.169.254"],
  "metadata.azure.internal": ["168.63.129.16"],
  "instance-data.ec2.internal": ["169.254.169.254", "fd00:ec2::254"],
  "empty.test": [],
};

export const BLOCKED: readonly BlockedUrl[] = [
  // IANA's special-purpose IPv4 ranges, with their first and last addresses.
  ...blocked("this network, 0.0.0.0/8", "0.0.0.0", "0.0.0.1", "0.255.255.255"),
  ...blocked("private, 10.0.0.0/8", "10.0.0.0", "10.0.0.1", "10.255.255.255"),
  ...blocked("shared with carriers, 100.64.0.0/10", "100.64.0.0", "100.100.100.200", "100.127.255.255"),
  ...blocked("loopback, 127.0.0.0/8", "127.0.0.0", "127.0.0.1", "127.0.0.2", "127.255.255.254"),
  ...blocked("link-local, 169.254.0.0/16", "169.254.0.0", "169.254.170.2", "169.254.255.255"),
  ...blocked("private, 172.16.0.0/12", "172.16.0.0", "172.17.0.1", "172.31.255.255"),
  ...blocked("protocol assignments, 192.0.0.0/24", "192.0.0.1", "192.0.0.9", "192.0.0.171", "192.0.0.192"),
  ...blocked("documentation", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
  ...blocked("6to4 relays, 192.88.99.0/24", "192.88.99.0", "192.88.99.255"),
  ...blocked("AS112 and AMT", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
  ...blocked("private, 192.168.0.0/16", "192.168.0.0", "192.168.1.1", "192.168.255.255"),
  ...blocked("benchmarks, 198.18.0.0/15", "198.18.0.0", "198.19.255.255"),
  ...blocked("multicast, 224.0.0.0/4", "224.0.0.1", "239.255.255.250"),
  ...blocked("reserved, 240.0.0.0/4", "240.0.0.1", "255.255.255.254"),
  ...blocked("broadcast", "255.255.255.255"),

  // IPv6: special-purpose ranges, and ranges that IANA has not assigned.
  ...blocked("unspecified", "[::]", "[0:0:0:0:0:0:0:0]"),
  ...blocked("loopback", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]"),
  ...blocked("IPv4-compatible", "[::127.0.0.1]", "[::7f00:1]", "[::8.8.8.8]"),
  ...blocked("IPv4-mapped", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:10.0.0.1]", "[::ffff:8.8.8.8]"),
  ...blocked("IPv4-translated", "[::ffff:0:127.0.0.1]", "[::ffff:0:808:808]"),
  ...blocked("NAT64, 64:ff9b::/96", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::8.8.8.8]"),
  ...blocked("NAT64 of a site, 64:ff9b:1::/48", "[64:ff9b:1::7f00:1]", "[64:ff9b:1:ffff::1]"),
  ...blocked("6to4", "[2002:7f00:1::1]", "[2002:a00:1::]", "[2002:a9fe:a9fe::]", "[2002:808:808::1]"),
  ...blocked("Teredo", "[2001::1]", "[2001:0:7f00:1::80ff:fffe]"),
  ...blocked("ISATAP", "[2606:4700::5efe:7f00:1]", "[2606:4700::200:5efe:10.0.0.1]", "[fe80::5efe:a00:1]"),
  ...blocked("discard", "[100::1]", "[100:0:0:1::1]"),
  ...blocked("protocol assignments, 2001::/23", "[2001:1::1]", "[2001:2::1]", "[2001:1ff:ffff::1]"),
  ...blocked("ORCHID", "[2001:10::1]", "[2001:20::1]", "[2001:30::1]"),
  ...blocked("AS112", "[2001:4:112::1]", "[2620:4f:8000::1]"),
  ...blocked("documentation", "[2001:db8::1]", "[3fff::1]", "[3fff:fff:ffff::1]"),
  ...blocked("segment routing, 5f00::/16", "[5f00::1]"),
  ...blocked("unique local, fc00::/7", "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[fdff:ffff::1]"),
  ...blocked("link-local, fe80::/10", "[fe80::1]", "[fe80::7f00:1]", "[febf::1]"),
  ...blocked("site-local, fec0::/10", "[fec0::1]", "[feff::1]"),
  ...blocked("multicast, ff00::/8", "[ff02::1]", "[ff0e::1]"),
  ...blocked("not assigned", "[1000::1]", "[4000::1]", "[8000::1]", "[e000::1]"),

  // Other spellings of an IPv4 host that URL parsers accept.
  ...blocked("decimal", "2130706433", "167772161", "2852039166", "0"),
  ...blocked("hexadecimal", "0x7f000001", "0x7F.0.0.1", "0x7f.1", "0xA9.0xFE.0xA9.0xFE"),
  ...blocked("octal", "0177.0.0.1", "017700000001", "0251.0376.0251.0376", "012.0.0.1"),
  ...blocked("short and with mixed bases", "127.1", "127.0.1", "0177.0x0.1", "10.1"),
  ...blocked("trailing dot", "127.0.0.1.", "0x7f.1.", "localhost.", "2130706433."),
  ...blocked("percent-encoded", "%31%32%37.0.0.1", "127.0.0%2e1", "%6c%6f%63alhost"),
  ...blocked("full-width and circled", "１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "ｌｏｃａｌｈｏｓｔ"),
  ...blocked("names of loopback", "localhost", "LOCALHOST", "api.localhost", "a.b.localhost."),

  // Names by their addresses in DNS.
  ...blocked("private by DNS", "private.test", "PRIVATE.test.", "link-local.test"),
  ...blocked("loopback by DNS", "loopback.test", "loopback6.test", "127.0.0.1.nip.test"),
  ...blocked("embedded by DNS", "mapped.test", "nat64.test"),
  ...blocked("public and private at once", "mixed.test", "mixed-last.test", "mixed-first.test"),
  ...blocked("one address family public, one not", "mixed-family.test", "mixed-family6.test"),
  ...blocked("metadata by number", "169.254.169.254", "168.63.129.16"),
  ...blocked("metadata by name", "metadata.google.internal", "metadata.azure.internal"),
  ...blocked("metadata by name, both families", "instance-data.ec2.internal"),
  ["no address", "http://empty.test:PORT/", "dns"],
  ["no such name", "http://absent.test:PORT/", "dns"],

  // Ports: they do not affect the check of the address, and must be valid.
  ["the scheme's own port", "http://127.0.0.1/", "blocked-address"],
  ["the scheme's own port, TLS", "https://127.0.0.1/", "blocked-address"],
  ["TLS", "https://localhost:PORT/", "blocked-address"],
  ["a mail server's port", "http://10.0.0.1:25/", "blocked-address"],
  ["a Redis port", "http://192.168.0.1:6379/", "blocked-address"],
  ["a MongoDB port", "http://[fd00::1]:27017/", "blocked-address"],
  ["a kubelet's port", "https://10.0.0.1:10250/", "blocked-address"],
  ...malformed("port 0", "http://127.0.0.1:0/", "http://93.184.215.14:0/"),
  ...malformed("an invalid port", "http://127.0.0.1:65536/", "http://127.0.0.1:-1/", "http://127.0.0.1:8x/"),

  // User information, and URLs that parsers read differently.
  ...malformed(
    "userinfo",
    "http://a@127.0.0.1:PORT/",
    "http://a:b@127.0.0.1:PORT/",
    "http://:b@localhost:PORT/",
  ),
  ...malformed(
    "a host in the userinfo",
    "http://93.184.215.14@127.0.0.1:PORT/",
    "http://a.test:80@127.0.0.1:PORT/",
  ),
  ...malformed(
    "an address in the userinfo",
    "http://127.0.0.1:PORT@93.184.215.14/",
    "http://a.test%2f@localhost/",
  ),
  ...malformed(
    "missing or additional slashes",
    "http:127.0.0.1:PORT/",
    "http:/127.0.0.1/",
    "http:///127.0.0.1/",
  ),
  ...malformed("backslashes", "http:\\\\127.0.0.1:PORT/", "http:/\\127.0.0.1/", "http://\\127.0.0.1/"),
  ["a backslash before the at sign", "http://127.0.0.1:PORT\\@93.184.215.14/", "blocked-address"],
  ["a fragment before the at sign", "http://127.0.0.1:PORT#@93.184.215.14/", "blocked-address"],
  ["a query before the at sign", "http://127.0.0.1:PORT?@93.184.215.14/", "blocked-address"],
  ["line breaks that parsers drop", "http://127.0.\n0.1:PORT/", "blocked-address"],
  ...malformed("white space in the host", "http://127.0.0.1 .test/", "http://a.test 127.0.0.1/"),
  ...malformed(
    "a zone",
    "http://[fe80::1%25eth0]:PORT/",
    "http://[fe80::1%eth0]:PORT/",
    "http://[::1%25lo]/",
  ),
  ...malformed(
    "neither an IPv4 address nor a name",
    "http://256.0.0.1/",
    "http://127.0.0.0x100/",
    "http://1.2.3.4.5/",
  ),
  ...malformed("other schemes", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_PING"),
  ...malformed("other schemes", "unix:/var/run/docker.sock", "ws://127.0.0.1:PORT/", "data:text/plain,x"),
  ...malformed("no scheme", "127.0.0.1:PORT", "//127.0.0.1:PORT/", "localhost:PORT/"),
  ...malformed("no host", "", "http://", "http://#x", "https://?x"),
];

/** Hosts in requests of sandboxed code to the gateway, which no URL parser has normalised. */
export const BLOCKED_HOSTS: readonly string[] = [
  ...["127.0.0.1", "::1", "[::1]", "::ffff:127.0.0.1", "0.0.0.0", "::", "10.0.0.1", "169.254.169.254"],
  ...["2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "localhost", "LOCALHOST."],
  ...["fe80::1%lo", "::1%lo", "64:ff9b::7f00:1", "2002:7f00:1::", "loopback.test", "mixed-family.test"],
];

export const PUBLIC: readonly string[] = [
  ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0"],
  ...["126.255.255.255", "128.0.0.1", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0"],
  ...["172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"],
  ...["198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2400:cb00::1"],
  ...["2606:4700:4700::1111", "2a00:1450:4001:830::200e", "2620:fe::fe", "3ffe::1"],
];

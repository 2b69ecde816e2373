import { expect } from "chai";
import { confineCookie, splitHeaders } from "../../src/runs/response-headers.ts";

const SENT = [
  ...["Content-Type", "content-disposition", "Content-Language", "Content-Encoding", "Cache-Control", "ETag"],
  ...[
    "Last-Modified",
    "Expires",
    "Location",
    "Vary",
    "Link",
    "Retry-After",
    "Allow",
    "Access-Control-Allow-Origin",
  ],
  ...["X-Hook-Secret", "x-anything", "WebHook-Allowed-Origin", "Smartsheet-Hook-Response"],
];

/** What speaks for the host, for the connection, or to a proxy in front; any other name is dropped too. */
const DROPPED = [
  ...[
    "Set-Cookie",
    "Set-Cookie2",
    "WWW-Authenticate",
    "Proxy-Authenticate",
    "Authentication-Info",
    "Clear-Site-Data",
  ],
  ...[
    "Strict-Transport-Security",
    "Public-Key-Pins",
    "Expect-CT",
    "Alt-Svc",
    "NEL",
    "Report-To",
    "Reporting-Endpoints",
  ],
  ...["Service-Worker-Allowed", "Refresh", "Content-Security-Policy", "Content-Security-Policy-Report-Only"],
  ...[
    "Permissions-Policy",
    "Origin-Agent-Cluster",
    "Accept-CH",
    "Critical-CH",
    "Speculation-Rules",
    "SourceMap",
  ],
  ...[
    "Connection",
    "Keep-Alive",
    "Transfer-Encoding",
    "Content-Length",
    "Upgrade",
    "Trailer",
    "TE",
    "Date",
    "Server",
  ],
  ...[
    "X-Request-Id",
    "X-Forwarded-Host",
    "X-Accel-Redirect",
    "X-Accel-Buffering",
    "X-Sendfile",
    "X-LIGHTTPD-send-file",
  ],
  ...["RateLimit-Limit", "Via", "Anything-Else", "__proto__"],
];

describe("the headers of a component's response", () => {
  const valued = (names: string[]) => Object.fromEntries(names.map(name => [name, "1"] as const));

  it("are sent if they describe the response itself", () => {
    const { allowed, dropped } = splitHeaders(valued(SENT), { cookies: false });
    expect(allowed.map(([name]) => name)).to.deep.equal(SENT);
    expect(dropped).to.deep.equal([]);
  });

  it("are dropped otherwise, in any spelling, and named once", () => {
    for (const name of DROPPED) {
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        const { allowed, dropped } = splitHeaders(valued([spelling]), { cookies: false });
        expect([allowed, dropped], spelling).to.deep.equal([[], [name.toLowerCase()]]);
      }
    }
  });

  it("may set cookies only where endpoints have a host of their own", () => {
    const headers = { "Set-Cookie": ["a=1", "b=2"] };
    expect(splitHeaders(headers, { cookies: true }).allowed).to.deep.equal([["Set-Cookie", ["a=1", "b=2"]]]);
    expect(splitHeaders(headers, { cookies: false }).dropped).to.deep.equal(["set-cookie"]);
  });

  const cookies: [string, string][] = [
    ["a=1", "a=1; Path=/in/x"],
    ["a=1; Path=/", "a=1; Path=/in/x"],
    ["a=1; path=/admin; HttpOnly", "a=1; HttpOnly; Path=/in/x"],
    ["a=1; Path=/in/x/y; SameSite=Lax", "a=1; SameSite=Lax; Path=/in/x/y"],
    ["a=1; Path=/in/xy", "a=1; Path=/in/x"],
    ["a=1; DOMAIN = example.org; ;Path=/in/x; Path=/", "a=1; Path=/in/x"],
    ["a=1;Domain=example.org;Secure", "a=1; Secure; Path=/in/x"],
  ];
  for (const [given, sent] of cookies) {
    it(`confine the cookie ${JSON.stringify(given)} to the endpoint`, () => {
      expect(confineCookie(given, "/in/x")).to.equal(sent);
    });
  }
});

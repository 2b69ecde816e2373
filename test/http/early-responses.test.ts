import { connect, type Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { newKey } from "../../src/accounts/api-keys.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type System, startSystem } from "../support/system.ts";

const KB = 1024;
const SIZES = [KB, 200 * KB, 3 * 1024 * KB];
/** A proxy's patience is far longer: 60 s. */
const MOST_MS = 10_000;

/** A response, and whether the connection is closed after it. */
interface Received {
  status: number;
  closes: boolean;
}

/** A connection as a proxy's pool has it: it sends all of a request while it waits for the response. */
class Pooled {
  readonly #socket: Socket;
  #received = "";
  #ended = false;
  #error: Error | undefined;
  #wake = () => {};

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", text => {
      this.#received += text;
      this.#wake();
    });
    this.#socket.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
    this.#socket.on("error", error => {
      this.#error = error;
      this.#wake();
    });
  }

  write(...parts: (string | Buffer)[]): void {
    for (const part of parts) this.#socket.write(part);
  }

  async #until(what: string, isDone: () => boolean): Promise<void> {
    const deadline = Date.now() + MOST_MS;
    while (!isDone()) {
      if (this.#error) throw new Error(`${what}: ${this.#error.message}`);
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new Error(`${what}: not in time`);
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async response(): Promise<Received> {
    const head = () => this.#received.indexOf("\r\n\r\n");
    await this.#until("a response", () => head() >= 0 || this.#ended);
    const text = this.#received.slice(0, head());
    // An interim one says only that the body may come.
    if (text.startsWith("HTTP/1.1 100")) {
      this.#received = this.#received.slice(head() + 4);
      return this.response();
    }
    if (text === "") throw new Error("closed without a response");
    const length = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? 0);
    const end = head() + 4 + length;
    await this.#until("its body", () => this.#received.length >= end || this.#ended);
    expect(this.#received.length, "the whole response").to.be.at.least(end);
    this.#received = this.#received.slice(end);
    return { status: Number(text.slice(9, 12)), closes: /^connection: close$/im.test(text) };
  }

  /** Resolves once the server has ended the connection; throws if it was reset. */
  async end(): Promise<void> {
    await this.#until("the end of the connection", () => this.#ended);
    expect(this.#received, "after the response").to.equal("");
  }

  close(): void {
    this.#socket.destroy();
  }
}

type Fault = "corrupt" | "too large";
interface Sent {
  encoding: string;
  fault: Fault;
  size: number;
  body: Buffer;
}

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const PACK: Record<string, (body: Buffer) => Buffer> = {
  gzip: body => gzipSync(body),
  deflate: body => deflateSync(body),
  br: body => brotliCompressSync(body, FAST),
  "gzip, br": body => brotliCompressSync(gzipSync(body), FAST),
};
/** More than any route takes, packed; made once, because to pack it takes longer than all that a server does. */
const LARGE = Buffer.alloc(6 * 1024 * KB, " ");
const BOMBS = Object.entries(PACK).map(([encoding, pack]) => ({ encoding, bomb: pack(LARGE) }));

/** Bodies of this size on the wire that no route can take, and of other routes than endpoints any. */
function bodiesOf(size: number): Sent[] {
  const junk = Buffer.alloc(size, "{ this is neither JSON nor compressed ");
  const packed = BOMBS.flatMap(({ encoding, bomb }): Sent[] => [
    { encoding, fault: "corrupt", size, body: junk },
    // What follows a bomb has no time to matter.
    {
      ...{ encoding, fault: "too large", size },
      body: Buffer.concat([bomb, junk]).subarray(0, Math.max(size, bomb.length)),
    },
  ]);
  return [
    { encoding: "", fault: "corrupt", size, body: junk },
    { encoding: "zstd", fault: "corrupt", size, body: junk },
    ...packed,
  ];
}

interface Kind {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  /** The status, whatever the body; absent for a route that reads it. */
  status?: number;
  maxBytes?: number;
  /** The statuses of a body without an encoding, and with an unknown one. */
  unpacked?: [none: number, unknown: number];
}

/** The statuses that a request may get: which of two faults is found first is not promised. */
function allowed({ status, maxBytes = 0, unpacked = [400, 415] }: Kind, sent: Sent): number[] {
  if (status !== undefined) return [status];
  const isLarge = sent.body.length > maxBytes;
  if (sent.encoding === "") return [isLarge ? 413 : unpacked[0]];
  if (sent.encoding === "zstd") return isLarge ? [413, unpacked[1]] : [unpacked[1]];
  return sent.fault === "too large" || isLarge ? [413, 400] : [400];
}

/** Sends a request of this kind, and returns what came back; the connection has then served another one, or ended. */
async function exchange(port: number, kind: Kind, sent: Sent & { isChunked: boolean }): Promise<Received> {
  const { method = "POST", path, headers = {} } = kind;
  const pooled = new Pooled(port);
  const { encoding, body, isChunked } = sent;
  const all = {
    ...{ Host: "127.0.0.1", "Content-Type": "application/json", ...headers },
    ...(encoding && { "Content-Encoding": encoding }),
    ...(isChunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(body.length) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  pooled.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
  if (isChunked) pooled.write(`${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n");
  else pooled.write(body);
  try {
    const first = await pooled.response();
    if (first.closes) await pooled.end();
    else {
      pooled.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      expect((await pooled.response()).status, "the next request").to.equal(200);
    }
    return first;
  } finally {
    pooled.close();
  }
}

const APP = `const chat = { type: "app", app: "chat" };
export default { name: "Messages", version: "0.0.1",
  props: { chat, events: { type: "$.interface.apphook", appProp: "chat" } }, run(event) { this.$emit(event); } };`;
const HTTP = `export default { name: "Http", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

describe("a connection after a response that began before its request had arrived", () => {
  let system: System;
  let port: number;
  const kinds = new Map<string, Kind>();
  before(async () => {
    system = await startSystem(
      { ADMIN_PASSWORD: "a long password of the operator", RATE_LIMITS: "endpoint:1000" },
      { workers: false },
    );
    port = Number(new URL(system.baseUrl).port);
    const api = await system.user({ plan: "paid" });
    const headers = { Authorization: `Bearer ${api.apiKey}` };
    const source = await api.createSource({ component_code: HTTP });
    const rules = { names: ["{{body.type}}"], event: "{{body}}" };
    const body = { app: "chat", fields: { token: "t" }, events: rules };
    const { id } = await api.expect(201, "POST", "/connections", { body });
    await api.createSource({ component_code: APP, configured_props: { chat: { authProvisionId: id } } });
    const { endpoint_url } = await api.expect(200, "GET", `/connections/${id}`);
    const reads: [string, Kind][] = [
      ["a route of the API", { path: "/v1/workflows", headers, maxBytes: LIMITS.apiBodyBytes.value }],
      ["the sign-in", { path: "/v1/sessions", maxBytes: LIMITS.publicBodyBytes.value }],
      [
        "publishing",
        { path: `/v1/sources/${source.id}/events`, headers, maxBytes: LIMITS.publishBodyBytes.value },
      ],
      [
        "the endpoint of a source",
        {
          path: new URL(source.configured_props.http?.endpoint_url ?? "").pathname,
          maxBytes: LIMITS.ingressBodyBytes.value,
          unpacked: [200, 200],
        },
      ],
      [
        "the endpoint of a connection",
        {
          path: new URL(endpoint_url).pathname,
          maxBytes: LIMITS.ingressBodyBytes.value,
          unpacked: [200, 200],
        },
      ],
      [
        "the board's sign-in",
        {
          path: "/admin/sign-in",
          headers: { Origin: new URL(system.baseUrl).origin },
          maxBytes: 4 * KB,
          unpacked: [401, 415],
        },
      ],
    ];
    const looksAway: [string, Kind][] = [
      ["an unknown path", { path: "/nothing", status: 404 }],
      ["an unknown route of the API", { path: "/v1/nothing", status: 404 }],
      ["an unknown endpoint", { path: `/in/${"a".repeat(32)}`, status: 404 }],
      ["a wrong method", { path: "/v1/sources", method: "PUT", status: 405 }],
      ["a request without a key", { path: "/v1/workflows", status: 401 }],
      ["an unknown key", { path: "/v1/workflows", headers: { Authorization: "Bearer none" }, status: 401 }],
      [
        "another type than JSON",
        { path: "/v1/workflows", headers: { ...headers, "Content-Type": "text/plain" }, status: 415 },
      ],
      ["the board", { path: "/admin/queues/api/queues", status: 403 }],
      ["the dashboard", { path: "/dashboard/sources", status: 404 }],
      ["metrics", { path: "/metrics", status: 404 }],
      ["health", { path: "/healthz", status: 200 }],
      ["a page", { path: "/docs", method: "GET", status: 200 }],
      ["a mail's link", { path: "/alert-mails/off", status: 404 }],
      ["two hosts", { path: "/healthz", headers: { "X-A": "a\r\nHost: b" }, status: 400 }],
      ["an unknown expectation", { path: "/nothing", headers: { Expect: "a miracle" }, status: 404 }],
      ["one that waits to go on", { path: "/nothing", headers: { Expect: "100-continue" }, status: 404 }],
    ];
    for (const [what, kind] of [...reads, ...looksAway]) kinds.set(what, kind);
  });
  after(() => system.stop());

  for (const size of SIZES) {
    it(`serves the next request, or has ended, for each kind of route and a body of ${size / KB} KB`, async () => {
      const bodies = bodiesOf(size);
      for (const [what, kind] of kinds) {
        for (const [i, sent] of bodies.entries()) {
          // A route that does not look at the body has one kind of rejection.
          if (kind.status !== undefined && i > 3) break;
          const isChunked = i % 3 === 1;
          const told = `${what}: ${sent.encoding} ${sent.fault}${isChunked ? ", chunked" : ""}`;
          const { status, closes } = await exchange(port, kind, { ...sent, isChunked }).catch(
            (error: Error) => {
              throw new Error(`${told}: ${error.message}`);
            },
          );
          expect(status, told).to.be.oneOf(allowed(kind, sent));
          const mayClose = isChunked || kind.headers?.Expect !== undefined || kind.status === 400;
          if (sent.body.length <= LIMITS.drainedBytes.value && !mayClose)
            expect(closes, told).to.equal(false);
        }
      }
    });
  }

  const BYTES = Buffer.from('{"event": {"word": "caf\u00e9"}}');
  const BODIES: [what: string, type: string, body: Buffer, status: number][] = [
    ["a byte order mark", "application/json", Buffer.concat([Buffer.from("\ufeff"), BYTES]), 202],
    ["UTF-8 by name", "application/json; charset=UTF-8", BYTES, 202],
    ["another charset", "application/json; charset=iso-8859-1", BYTES, 415],
    ["an unknown charset", "application/json; charset=none", BYTES, 415],
    ["UTF-16", "application/json; charset=utf-16le", Buffer.from(BYTES.toString(), "utf16le"), 415],
    ["bytes that are not UTF-8", "application/json", Buffer.from(BYTES.toString(), "latin1"), 400],
    ["two byte order marks", "application/json", Buffer.concat([Buffer.from("\ufeff\ufeff"), BYTES]), 400],
    ["another type", "text/plain", BYTES, 415],
  ];
  for (const [what, type, body, status] of BODIES) {
    it(`serves the next request after a body with ${what}, which gets ${status}`, async () => {
      for (const name of ["publishing", "a route of the API"]) {
        const { headers = {}, ...kind } = kinds.get(name) as Kind;
        const all = { ...kind, headers: { ...headers, "Content-Type": type } };
        for (const isChunked of [false, true]) {
          const sent = { encoding: "", fault: "corrupt", size: body.length, body, isChunked } as const;
          const received = await exchange(port, all, sent);
          // A workflow has no field `event`.
          expect(received.status, name).to.equal(name === "publishing" || status === 415 ? status : 400);
        }
      }
    });
  }

  it("serves the next request, or has ended, after 429", async () => {
    const key = (text: string) => ({ Authorization: `Bearer ${text}` });
    const check = async (kind: Kind) => {
      for (const sent of SIZES.map(bodiesOf).flatMap(all => all.slice(0, 3))) {
        for (const isChunked of [false, true]) {
          const { status } = await exchange(port, kind, { ...sent, isChunked });
          expect(status, `${sent.size} ${sent.encoding}`).to.equal(kind.status);
        }
      }
    };
    const wrong = () => key(newKey(system.web, "u_nobody", null).apiKey);
    const one = {
      encoding: "",
      fault: "corrupt",
      size: 2,
      body: Buffer.from("{}"),
      isChunked: false,
    } as const;
    let last = 0;
    for (let n = 0; n <= LIMITS.unknownKeys.value && last !== 429; n += 1)
      last = (await exchange(port, { path: "/v1/workflows", headers: wrong() }, one)).status;
    await check({ path: "/v1/workflows", headers: wrong(), status: 429 });
  });
});

import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { IngressShares } from "../../src/ingress/arrival.ts";
import type { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const SILENT = `export default { name: "Silent", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
const WAITING = `export default { name: "Waiting", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } }, run() {} };`;
const BODY = Buffer.alloc(LIMITS.ingressBodyBytes.value - 1, "a");

describe("what requests for the sources of an account hold of a web process", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ TIMEOUTS: "response:60s" }, { workers: false });
  });
  after(async () => {
    leave();
    await system.stop();
  });

  const leave = () => {
    for (const socket of started) socket.destroy();
    started.clear();
  };

  async function endpoint(code: string, account?: Awaited<ReturnType<System["user"]>>): Promise<URL> {
    const api = account ?? (await system.user());
    const source = await api.createSource({ component_code: code });
    return new URL(source.configured_props.http?.endpoint_url ?? "");
  }

  /** Requests that were started and not ended. */
  const started = new Set<Socket>();

  /**
   * Starts a request whose last byte doesn't arrive. While `isFilling`, one that is rejected is started again: it came
   * while another request, that asks whether all are there, was in its place.
   */
  function startRequest(url: URL, body: Buffer): Socket {
    const socket = connect(Number(url.port), url.hostname);
    const again = () => {
      if (!isFilling || !started.delete(socket)) return;
      socket.destroy();
      startRequest(url, body);
    };
    // So many at once may also find no place in the system's queue of new connections.
    socket.on("error", again).once("data", again);
    socket.write(`POST ${url.pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length + 1}\r\n\r\n`);
    socket.write(body);
    started.add(socket);
    return socket;
  }
  let isFilling = false;

  /** Starts these requests, and waits until a further one of one byte is rejected. */
  async function fill(url: URL, bodies: Buffer[]): Promise<void> {
    isFilling = true;
    for (const body of bodies) startRequest(url, body);
    await until(async () => (await send(url, 1))[0] === 429, { what: "a request too many" });
    isFilling = false;
    expect(await send(url, 1)).to.deep.equal([429, "rate-limited", "1"]);
  }

  /** Sends a request in chunks, so that nothing says how long it is. */
  async function send(url: URL, bytes: number) {
    const body = new Blob(["a".repeat(bytes)]).stream();
    const response = await fetch(url, { method: "POST", body, duplex: "half" } as RequestInit);
    const { type } = (await response.json()) as { type?: string };
    return [response.status, type?.split("#")[1], response.headers.get("retry-after")];
  }
  const ACCEPTED = [200, undefined, null];
  const isAccepted = async (url: URL, bytes: number) => (await send(url, bytes))[0] === 200;

  it("are as many requests as it may, those that wait for a response included; one more gets 429", async () => {
    const account = await system.user();
    const [url, waiting] = [await endpoint(SILENT, account), await endpoint(WAITING, account)];
    const left = new AbortController();
    const response = fetch(waiting, { method: "POST", body: "x", signal: left.signal }).catch(() => "left");
    const most = LIMITS.requestsInProgress.value - 1;
    await fill(url, Array<Buffer>(most).fill(Buffer.from("a")));
    expect(await send(await endpoint(SILENT), 1), "another account").to.deep.equal(ACCEPTED);
    const [first] = started;
    const status = new Promise<string>(resolve => {
      first?.once("data", data => resolve(String(data).split("\r\n", 1)[0] ?? ""));
    });
    first?.write("a");
    expect(await status, "the bound itself passes").to.equal("HTTP/1.1 200 OK");
    await until(() => isAccepted(url, 1), { what: "a free place" });
    left.abort();
    expect(await response).to.equal("left");
    leave();
  });

  it("are as many bytes of bodies as have arrived: of an account, else 429, and of all, else 503", async () => {
    const { ingressBytesOfAccount: ofAccount, ingressBytes: ofAll } = LIMITS;
    const large = Math.ceil(ofAccount.value / (BODY.length + 1));
    const rest = Buffer.alloc(ofAccount.value - large * BODY.length, "a");
    const urls: URL[] = [];
    for (let n = 0; n < ofAll.value / ofAccount.value; n += 1) {
      const url = await endpoint(SILENT);
      urls.push(url);
      await fill(url, [...Array<Buffer>(large).fill(BODY), rest]);
    }
    const other = await endpoint(SILENT);
    expect(await send(other, 1)).to.deep.equal([503, "unavailable", "1"]);
    leave();
    for (const url of [other, ...urls]) await until(() => isAccepted(url, rest.length));
  });
});

const LARGE = LIMITS.largeBodyBytes.value + 1;
const WORK_MS = 10;

/** Takes the thread, as a parser does. */
async function parse(): Promise<void> {
  const end = performance.now() + WORK_MS;
  while (performance.now() < end);
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error as AppError).code,
  );

describe("large bodies of requests for sources", () => {
  it("of one account are converted one at a time, of two accounts side by side, and small ones at once", async () => {
    const bodies = new IngressShares();
    const started: string[] = [];
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const start = (name: string, bytes: number) =>
      bodies.handleBody(name.slice(0, 1), bytes, () => {
        started.push(name);
        return ended;
      });
    const all = [start("a1", LARGE), start("a2", LARGE), start("a3", LARGE - 1), start("b1", LARGE)];
    const third = start("c1", LARGE);
    expect(started).to.deep.equal(["a1", "a3", "b1"]);
    end();
    await Promise.all([...all, third]);
    expect(started).to.have.members(["a1", "a2", "a3", "b1", "c1"]);
  });

  it("of one account leave most of the thread to others as long as others send requests, and none of it alone", async () => {
    /** Converts bodies of `a` one after another, and returns the share of the time that this took. */
    const shareOf = async (others: string[]) => {
      const bodies = new IngressShares();
      const startedAt = performance.now();
      let worked = 0;
      for (let n = 0; n < 10; n += 1) {
        for (const account of ["a", ...others]) bodies.note(account);
        await bodies.handleBody("a", LARGE, async () => {
          const at = performance.now();
          await parse();
          worked += performance.now() - at;
        });
      }
      return worked / (performance.now() - startedAt);
    };
    const [alone, beside] = [await shareOf([]), await shareOf(["b"])];
    expect(beside).to.be.below(0.35);
    expect(alone / beside).to.be.above(2);
  });

  it("that may not wait are rejected: too many of the account with 429, too many of all with 503", async () => {
    const bodies = new IngressShares();
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const { largeBodies, largeBodiesWaiting: ofAccount, largeBodiesWaitingInAll: inAll } = LIMITS;
    const fill = (account: string, count: number) =>
      Array.from({ length: count }, () => bodies.handleBody(account, LARGE, () => ended));
    const first = fill("a", 1 + ofAccount.value);
    expect(await codeOf(bodies.handleBody("a", LARGE, parse))).to.equal("rate-limited");
    // The other turns, and accounts that fill the waiting room of all.
    const others = Array.from({ length: largeBodies.value - 1 }, (_, n) => fill(`running-${n}`, 1)).flat();
    const crowd = Array.from({ length: inAll.value - ofAccount.value }, (_, n) => fill(`b${n}`, 1)).flat();
    expect(await codeOf(bodies.handleBody("c", LARGE, parse))).to.equal("unavailable");
    end();
    await Promise.all([...first, ...others, ...crowd]);
    await until(async () => (await codeOf(bodies.handleBody("a", LARGE, parse))) === "done");
  });
});

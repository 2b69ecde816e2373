import { connect, type Socket } from "node:net";
import { expect } from "chai";
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
    system = await startSystem({ HTTP_RESPONSE_TIMEOUT: "60s" }, { workers: false });
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

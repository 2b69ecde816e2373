/**
 * The noisy neighbour's own machine, as a process of its own: endpoints that its webhooks name, and senders that send
 * requests as fast as their connections allow. Its parent sends `{listen}`, `{send}` and `{stop}` messages, each with an
 * `id`, and gets `{id, port}` or `{id, statuses}` back.
 */
import { Agent, createServer, request as httpRequest } from "node:http";

/** What an endpoint does with a request after it has read it. */
const ENDPOINTS = {
  hang: () => {},
  fail: (_, response) => response.writeHead(500).end(),
  ok: (_, response) => response.writeHead(200).end(),
};

const KINDS = {
  form: () => Array.from({ length: 60_000 }, (_, i) => `f${i}=1`).join("&"),
  multipart: () =>
    `${Array.from({ length: 6000 }, (_, i) => `--x\r\ncontent-disposition: form-data; name="f${i}"\r\n\r\n1\r\n`).join("")}--x--\r\n`,
  deep: () => `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  wide: () => JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i]))),
  binary: () => Buffer.alloc(500 * 1024, 0x80),
};

const endpoints = [];
const senders = new Map();

async function listen(kind) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => ENDPOINTS[kind](request, response));
  });
  endpoints.push(server);
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
}

/** `requests` are `{url, method, headers, body, kind}`, sent in turn; `%n` in a header or URL is a counter. */
function send({ requests, connections, keepOpen = false, perSecond = 0 }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const bodies = requests.map(({ body, kind }) => (kind ? KINDS[kind]() : body));
  const statuses = {};
  let counter = 0;
  let isStopped = false;
  const open = new Set();
  const count = status => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const filled = (text, n) => String(text).replaceAll("%n", String(n));
  const sendOne = () =>
    new Promise(resolve => {
      const n = counter++;
      const { url, method = "POST", headers = {} } = requests[n % requests.length];
      const body = bodies[n % requests.length];
      const request = httpRequest(filled(url, n), {
        agent,
        method,
        headers: {
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value, n)])),
          ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        },
      });
      open.add(request);
      const settle = status => {
        open.delete(request);
        count(status);
        resolve();
      };
      request.on("error", error => settle(error.code ?? "error"));
      request.on("response", response => {
        if (keepOpen) count(response.statusCode);
        response.resume().on("close", () => settle(keepOpen ? "closed" : response.statusCode));
      });
      request.end(body);
    });
  const startedAt = Date.now();
  const loop = async () => {
    while (!isStopped) {
      await sendOne();
      if (perSecond === 0) continue;
      const dueInMs = (counter / perSecond) * 1000 - (Date.now() - startedAt);
      if (dueInMs > 0) await new Promise(resolve => setTimeout(resolve, dueInMs));
    }
  };
  const loops = Array.from({ length: connections }, loop);
  return {
    async stop() {
      isStopped = true;
      for (const request of open) request.destroy();
      await Promise.all(loops);
      agent.destroy();
      return statuses;
    },
  };
}

process.on("message", async ({ id, listen: kind, send: given, stop }) => {
  if (kind) return process.send({ id, port: await listen(kind) });
  if (given) {
    senders.set(id, send(given));
    return process.send({ id });
  }
  const statuses = await senders.get(stop)?.stop();
  senders.delete(stop);
  process.send({ id, statuses });
});
process.on("disconnect", () => process.exit(0));

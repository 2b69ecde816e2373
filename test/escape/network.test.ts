// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code that runs in the sandbox
import { expect } from "chai";
import { expectDenied, type Lab, openLab, resultOf } from "./lab.ts";

describe("an escape to the network", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab();
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  it("can reach a public address, so that the failures below are meaningful", async () => {
    const got = await lab.attempt("return await (await fetch(at.publicUrl)).text()");
    expect(resultOf(got)).to.equal("public");
    const named = await lab.attempt(
      "return await (await fetch(at.publicUrl.replace('127.0.0.2', 'public.test'))).text()",
    );
    expect(resultOf(named)).to.equal("public");
  });

  it("can't reach a host that is or resolves to an internal address, in any spelling", async () => {
    for (const host of HOSTS) {
      const code = `return (await fetch("http://${host}:" + at.canaryPort + "/")).status`;
      expectDenied(await lab.attempt(code), `fetch ${host}`);
    }
    for (const host of HOSTS) {
      const bare = host.replace(/^\[|\]$/g, "");
      const code = `return await new Promise((d, f) => net.connect(at.canaryPort, ${JSON.stringify(bare)}).on("connect", d).on("error", f))`;
      expectDenied(await lab.attempt(code), `connect ${bare}`);
    }
  });

  for (const target of [
    "http://127.0.0.1:PORT/",
    "http://[::1]:PORT/",
    "http://mapped.test:PORT/",
    "http://169.254.169.254/latest/",
  ]) {
    it(`can't reach ${target} through a redirect`, async () => {
      const to = encodeURIComponent(target.replace("PORT", String(lab.canaryPort)));
      expectDenied(await lab.attempt(`return (await fetch(at.publicUrl + "/to?${to}")).status`), "fetch");
    });
  }

  it("is not possible through a name that is public at first and loopback later", async () => {
    const code = `
      const first = await (await fetch(at.publicUrl.replace("127.0.0.2", "rebinding.test"))).text();
      try { return [first, (await fetch("http://rebinding.test:" + at.canaryPort)).status]; } catch { return [first, "refused"]; }`;
    expect(resultOf(await lab.attempt(code))).to.deep.equal(["public", "refused"]);
  });

  it("is not possible in any other way", async () => {
    for (const [name, code] of Object.entries(WAYS)) expectDenied(await lab.attempt(code), name);
  });

  it("is not possible with false requests to the gateway, which still serves others afterwards", async () => {
    for (const line of GATEWAY_LINES) {
      const code = `
        const socket = await Deno.connect({ transport: "unix", path: process.cwd().replace(/files$/, "out.sock") });
        await socket.write(typeof at.line === "string" ? new TextEncoder().encode(at.line.replaceAll("PORT", at.canaryPort)) : new Uint8Array(at.line));
        const buffer = new Uint8Array(1000); let text = "";
        for (let n; (n = await socket.read(buffer)) !== null;) text += new TextDecoder().decode(buffer.subarray(0, n));
        return text;`;
      const said = resultOf(await lab.attempt(`at.line = ${JSON.stringify(line)}; ${code}`));
      expect(said, JSON.stringify(line).slice(0, 80)).to.not.contain('"ok"');
    }
    const again = await lab.attempt("return await (await fetch(at.publicUrl)).text()");
    expect(resultOf(again)).to.equal("public");
  });

  it("does not exhaust the gateways of others with a flood of connections", async () => {
    const code = `
      const sockets = await Promise.all(Array.from({ length: 200 }, () => new Promise(done => {
        const socket = net.connect(Number(new URL(at.publicUrl).port), "127.0.0.2");
        socket.on("connect", () => done(socket)).on("error", () => done(undefined));
      })));
      return sockets.filter(Boolean).length;`;
    expect(resultOf(await lab.attempt(code))).to.be.within(1, 64);
  });
});

const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0",
  "0.0.0.0",
  "localhost",
  "LOCALHOST.",
  "any.localhost",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "169.254.169.254",
  "10.0.0.1",
  "192.168.0.1",
  "172.16.0.1",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "loopback.test",
  "mapped.test",
  "nat64.test",
  "nat64-local.test",
  "sixtofour.test",
  "six.test",
  "private.test",
  "metadata.test",
  "unspecified.test",
];

const opened = (expression: string) =>
  `return await new Promise((d, f) => ${expression}.on("connect", d).on("error", f))`;

const WAYS: Record<string, string> = {
  "node:http":
    "return await new Promise((d, f) => http.get({ host: '127.0.0.1', port: at.canaryPort }, d).on('error', f))",
  "node:http with its own socket":
    "return await new Promise((d, f) => http.get({ createConnection: () => net.connect(at.canaryPort, '127.0.0.1') }, d).on('error', f))",
  "node:http over a Unix socket":
    "return await new Promise((d, f) => http.get({ socketPath: '/var/run/docker.sock' }, d).on('error', f))",
  "node:http2":
    "return await new Promise((d, f) => http2.connect(`http://127.0.0.1:${at.canaryPort}`).on('connect', d).on('error', f))",
  "node:tls": opened("tls.connect({ port: at.canaryPort, host: '::1', rejectUnauthorized: false })"),
  WebSocket:
    "return await new Promise((d, f) => { const w = new WebSocket(`ws://127.0.0.1:${at.canaryPort}/`); w.onopen = d; w.onerror = () => f(new Error('refused')); })",
  EventSource:
    "return await new Promise((d, f) => { const w = new EventSource(`http://127.0.0.1:${at.canaryPort}/`); w.onopen = d; w.onerror = () => { w.close(); f(new Error('refused')); }; })",
  "Deno.connect": "return await Deno.connect({ hostname: '127.0.0.1', port: at.canaryPort })",
  "Deno.connect by name": "return await Deno.connect({ hostname: 'localhost', port: at.canaryPort })",
  "Deno.connect to IPv6": "return await Deno.connect({ hostname: '::ffff:127.0.0.1', port: at.canaryPort })",
  "Deno.connectTls": "return await Deno.connectTls({ hostname: '127.0.0.1', port: at.canaryPort })",
  "Deno.listen": "return Deno.listen({ port: 0 }).addr",
  "Deno.listen on its gateway's path":
    "return Deno.listen({ transport: 'unix', path: process.cwd().replace(/files$/, 'out.sock') }).addr",
  "Deno.serve": "return Deno.serve({ port: 0 }, () => new Response('x')).addr",
  "Deno.listenDatagram": "return Deno.listenDatagram({ transport: 'udp', port: 0 }).addr",
  "Deno.resolveDns": "return await Deno.resolveDns('example.com', 'A')",
  "Deno.createHttpClient":
    "const client = Deno.createHttpClient({ proxy: { url: `http://127.0.0.1:${at.canaryPort}` } }); return await fetch('http://public.test:1/', { client })",
  "a server": "return await new Promise((d, f) => net.createServer().on('error', f).listen(0, d))",
  UDP: "return await new Promise((d, f) => dgram.createSocket('udp4').on('error', f).bind(0, d))",
  "a name lookup": "return await dns.lookup('localhost')",
  "its own name server":
    "const r = new dns.Resolver(); r.setServers(['127.0.0.1:53']); return await r.resolve4('example.com')",
  "another Unix socket": "return await Deno.connect({ transport: 'unix', path: '/var/run/docker.sock' })",
  "the host's own socket":
    "return await Deno.connect({ transport: 'unix', path: `${at.hostFolder}/alive.sock` })",
  "the neighbour's gateway":
    "return await Deno.connect({ transport: 'unix', path: `${at.neighbourWorkspace}/out.sock` })",
  "an abstract Unix socket":
    "return await Deno.connect({ transport: 'unix', path: '\\0headwater-sandbox-ids-200000' })",
  "a foreign descriptor":
    "return await new Promise((d, f) => new net.Socket({ fd: 3 }).on('error', f).on('data', d).write('x'))",
  "a requested permission":
    "const p = await Deno.permissions.request({ name: 'net' }); if (p.state !== 'granted') throw new Error(p.state); return p.state",
  "a module from the network": "return await import('http://127.0.0.1:' + at.canaryPort + '/x.mjs')",
};

const GATEWAY_LINES: (string | number[])[] = [
  '{"host":"127.0.0.1","port":PORT}\n',
  '{"host":"::ffff:127.0.0.1","port":PORT}\n',
  '{"host":"nat64.test","port":PORT}\n',
  '{"host":"127.0.0.1","port":"PORT"}\n',
  '{"host":["127.0.0.1"],"port":PORT}\n',
  '{"host":"127.0.0.2\\u0000.test","port":PORT}\n',
  '{"host":"127.0.0.2@127.0.0.1","port":PORT}\n',
  '{"host":"/tmp/some.sock","port":1}\n',
  '{"host":"127.0.0.1","port":0}\n{"host":"127.0.0.1","port":PORT}\n',
  '{"host":"127.0.0.1","port":65536}\n',
  '{"__proto__":{"host":"127.0.0.2"},"port":PORT}\n',
  "null\n",
  "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
  "x".repeat(2000),
  [0, 255, 10, 0, 255, 10],
];

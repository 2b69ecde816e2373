import { connect } from "node:net";
import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api, type SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const NEVER = `export default { name: "Never", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } }, run: () => new Promise(() => {}) };`;

describe("a client that leaves", () => {
  let system: System;
  let web: Platform;
  let server: WebServer;
  let source: SourceView;
  let key: string;
  const lines: { level: number; msg: string; aborted?: boolean; err?: unknown }[] = [];
  before(async () => {
    system = await startSystem({}, { workers: true });
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    web = await openPlatform({ ...system.web.config, port: 0 }, "web", { log: pino({ base: null }, sink) });
    server = await startWeb(web);
    key = (await createUser(web, { email: "leaver@example.test" })).api_key;
    source = await new Api(system.baseUrl, key).createSource({ component_code: NEVER });
  });
  after(async () => {
    await server.close();
    await web.close();
    await system.stop();
  });

  /** Sends the start of a request, and leaves after the first bytes of the response, or at once if there is none yet. */
  const leave = (head: string[], body = "", wait: "response" | "none" = "none") =>
    new Promise<void>((done, failed) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.once("error", failed);
      const end = () => {
        socket.resetAndDestroy();
        done();
      };
      if (wait === "response") socket.once("data", end);
      socket.write(`${head.join("\r\n")}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n${body}`, () => {
        if (wait === "none") setImmediate(end);
      });
    });

  const inTheMiddleOf: [string, (endpoint: string) => Promise<void>][] = [
    ["a stream", () => leave([`GET /v1/sources/${source.id}/sse HTTP/1.1`], "", "response")],
    ["a large response", () => leave(["GET /v1/openapi.json HTTP/1.1"], "", "response")],
    [
      "an upload to the API",
      () =>
        leave(
          ["POST /v1/sources HTTP/1.1", "Content-Type: application/json", "Content-Length: 999"],
          '{"a":',
        ),
    ],
    ["an upload to a source", endpoint => leave([`POST ${endpoint} HTTP/1.1`, "Content-Length: 999"], "x")],
    ["a wait for a component", endpoint => leave([`GET ${endpoint} HTTP/1.1`])],
  ];
  for (const [what, begin] of inTheMiddleOf) {
    it(`in the middle of ${what} is not an error`, async () => {
      lines.splice(0);
      await begin(new URL(source.configured_props.http?.endpoint_url ?? "").pathname);
      await until(() => lines.some(({ msg }) => msg === "request"), { what: "the request's line" });
      // A later request: what the first one logs is there by then.
      await fetch(`http://127.0.0.1:${server.port}/healthz`);
      await until(() => lines.filter(({ msg }) => msg === "request").length === 2);
      expect(lines.filter(({ level, err }) => level >= 40 || err !== undefined)).to.deep.equal([]);
    });
  }
});

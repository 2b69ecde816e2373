import { expect } from "chai";
import { problemOf } from "../../src/http/problem.ts";
import { AppError, type ErrorCode } from "../../src/lib/errors.ts";
import { until } from "../support/until.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";

const STATUS: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  "limit-reached": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  conflict: 409,
  "precondition-failed": 412,
  "too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  unavailable: 503,
  timeout: 504,
};

describe("http/problem", () => {
  for (const [code, status] of Object.entries(STATUS)) {
    it(`responds ${status} to ${code} with the message of the error`, () => {
      const { problem } = problemOf(new AppError(code as ErrorCode, "this is the message"));
      expect(problem).to.include({
        status,
        type: `/docs/errors#${code}`,
        detail: "this is the message",
        error: "this is the message",
      });
    });
  }

  it("sets Retry-After in whole seconds", () => {
    const retryAfter = (code: ErrorCode, retryAfterMs?: number) =>
      problemOf(new AppError(code, "later", { ...(retryAfterMs && { retryAfterMs }) })).headers[
        "Retry-After"
      ];
    expect(retryAfter("rate-limited", 1500)).to.equal("2");
    expect(retryAfter("unavailable")).to.equal("1");
    expect(retryAfter("conflict", 200)).to.equal("1");
    expect(retryAfter("conflict")).to.equal(undefined);
  });

  it("maps other errors by their status, and never shows their message", () => {
    const foreign = (status: unknown) => problemOf(Object.assign(new Error("secret"), { status })).problem;
    expect(
      [400, 404, 413, 418, 500, 200, "x", undefined].map(status => foreign(status).status),
    ).to.deep.equal([400, 404, 413, 400, 500, 500, 500, 500]);
    expect(JSON.stringify([foreign(400), foreign(500), problemOf("secret")])).not.to.include("secret");
  });
});

describe("http/respond-error and http/request-log", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo();
  });
  after(() => demo.close());

  const lineOf = (requestId: unknown, msg: string) =>
    until(() => demo.lines.find(line => line.request_id === requestId && line.msg === msg));

  it("responds to an unexpected error with a fixed text and logs its cause", async () => {
    const response = await demo.send({ method: "POST", path: "/v1/broken" });
    expect([response.status, response.json.title]).to.deep.equal([500, "Internal error"]);
    expect(response.text).not.to.include("hunter2");
    const line = (await lineOf(response.headers["x-request-id"], "request failed")) as {
      err: { message: string };
    };
    expect(line.err.message).to.include("hunter2");
  });

  it("adds a request id to every response: the caller's if it is safe to log, otherwise a new one", async () => {
    const idFor = async (path: string, id?: string) =>
      (await demo.send({ path, ...(id && { headers: { "x-request-id": id } }) })).headers["x-request-id"];
    expect(await idFor("/v1/things/t_one", "trace-1.a:b")).to.equal("trace-1.a:b");
    expect(await idFor("/nowhere", "trace-2")).to.equal("trace-2");
    for (const id of ["a b", "x".repeat(129), "<script>", undefined]) {
      expect(await idFor("/v1/things/t_none", id), id).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it("logs one line per request, without path, query string or headers", async () => {
    const response = await demo.send({ path: "/v1/things/t_one?include=id&org_id=o_red" });
    const line = await lineOf(response.headers["x-request-id"], "request");
    expect(line).to.include({
      method: "GET",
      route: "/v1/things/{id}",
      status: 404,
      user_id: "u_ann",
      error: "thing not found",
    });
    expect(JSON.stringify(line)).not.to.match(/key-ann|o_red|t_one/);
  });
});

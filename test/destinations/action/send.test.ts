import { expect } from "chai";
import { sendToAction } from "../../../src/destinations/action/send.ts";
import { createDestination } from "../../../src/destinations/create.ts";
import type { SendDeps } from "../../../src/destinations/message.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import type { Destination } from "../../../src/models/webhook.ts";
import type { CallOptions } from "../../../src/sandbox/call-options.ts";
import type { Sandboxes } from "../../../src/sandbox/host.ts";
import type { CallRequest } from "../../../src/sandbox/protocol.ts";
import { rejection } from "../../components/rejection.ts";
import { OWNER, webhookOf } from "../../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const CODE = `export default { name: "A", version: "1", type: "action", run() {} };`;
const message = {
  id: "dlv_1",
  eventId: "1700000000000-0",
  emitterId: "p_1",
  eventName: "$test",
  attempt: 1,
  body: "{}",
};

describe("an attempt of an action", () => {
  let platform: TestPlatform;
  let destination: Destination;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    const body = { action: { component_code: CODE }, ownerId: OWNER, userId: OWNER };
    const { id } = await createDestination(platform, body);
    destination = (await webhookOf(platform, id)) as Destination;
  });
  after(() => platform.destroy());

  /** A platform whose sandboxes are never free, with this time for a run. */
  const busy = (
    runMs: number,
    onCall: (request: CallRequest, options: CallOptions) => void = () => undefined,
  ) => {
    const call: Sandboxes["call"] = (_key, _bundle, request, options = {}) =>
      new Promise(resolve => {
        onCall(request, options);
        const error = { code: "Cancelled", message: "", stack: "" };
        const cancelled = { error, emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };
        options.signal?.addEventListener("abort", () => resolve(cancelled));
      });
    const sandbox = { ...platform.config.sandbox, runMs };
    const sandboxes = async () => ({ call }) as unknown as Sandboxes;
    return { ...platform, config: { ...platform.config, sandbox }, sandboxes } as SendDeps;
  };

  it("comes again later if no sandbox is free in time", async () => {
    const deps = busy(20 - LIMITS.actionWaitMs.value - 30_000);
    const error = await rejection(sendToAction(deps, destination, message, undefined, platform.clock()));
    expect([error.code, error.message]).to.deep.equal(["unavailable", "no sandbox was free"]);
  });

  it("says which event it is for, and ends with its worker", async () => {
    const stop = new AbortController();
    let event: unknown;
    let options: CallOptions = {};
    const deps = busy(300_000, (request, given) => {
      event = request.event;
      options = given;
      stop.abort();
    });
    const error = await rejection(sendToAction(deps, destination, message, stop.signal, platform.clock()));
    expect([error.code, error.message]).to.deep.equal(["unavailable", "stopped before the action ended"]);
    expect(event).to.deep.equal({
      event: {},
      context: {
        ...{ id: "dlv_1", ts: "2023-11-14T22:13:20.000Z", attempt: 1, test: true },
        ...{
          event_id: message.eventId,
          event_name: "$test",
          emitter_id: "p_1",
          destination_id: destination._id,
        },
      },
    });
    expect([options.owner, options.wallMs]).to.deep.equal([OWNER, LIMITS.trialMs.value]);
  });
});

import { expect } from "chai";
import { type CallMessage, ProcessCalls } from "../../../src/components/builder/calls.ts";
import { AppError } from "../../../src/lib/errors.ts";

/** Two ends that send each other copies, as processes do. */
function connected(): [ProcessCalls, ProcessCalls] {
  const copy = (message: CallMessage) => structuredClone(message);
  const one: ProcessCalls = new ProcessCalls(message => other.receive(copy(message)), {
    double: async (n: number) => n * 2,
  });
  const other: ProcessCalls = new ProcessCalls(message => one.receive(copy(message)), {
    add: async (a: number, b: number) => (await other.call<number>("double", a)) + b,
    reject: async () => {
      throw new AppError("rate-limited", "too many", {
        fields: [{ in: "body", path: "a", message: "b" }],
        retryAfterMs: 7,
        cause: new Error("why"),
      });
    },
    fault: async () => {
      throw new TypeError("a bug");
    },
    hang: () => new Promise(() => {}),
  });
  return [one, other];
}

describe("calls between processes", () => {
  const [calls] = connected();
  const failure = (name: string) => calls.call(name).catch((error: unknown) => error);

  it("return what the function returns, which may call back", async () => {
    expect(await calls.call("add", 3, 1)).to.equal(7);
  });

  it("throw AppErrors with all that they say", async () => {
    const error = (await failure("reject")) as AppError;
    expect(error).to.be.instanceOf(AppError);
    expect(error).to.deep.include({ code: "rate-limited", message: "too many", retryAfterMs: 7 });
    expect(error.fields).to.deep.equal([{ in: "body", path: "a", message: "b" }]);
    expect(String(error.cause)).to.equal("Error: why");
  });

  it("throw other errors with the stack of the process where they come from", async () => {
    const error = (await failure("fault")) as Error;
    expect(error.message).to.equal("a bug");
    expect(error.stack).to.include("TypeError: a bug");
    expect(((await failure("unknown")) as Error).message).to.include("unknown");
  });

  it("end when the other process does", async () => {
    const hanging = failure("hang");
    calls.fail(new Error("it ended"));
    expect(((await hanging) as Error).message).to.equal("it ended");
  });
});

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { expect } from "chai";
import "../../../src/store/connections/redis.ts";

describe("methods of strings", () => {
  it("are fast beside ioredis, whose class that extends String makes V8 look them up at each call", () => {
    setFlagsFromString("--allow-natives-syntax");
    const isFast = new Function("return %HasFastProperties(String.prototype)") as () => boolean;
    setFlagsFromString("--no-allow-natives-syntax");
    expect(isFast()).to.equal(true);
  });

  it("are slow with ioredis alone: fast-strings.ts goes when they are not", async () => {
    const program = 'require("ioredis"); console.log(%HasFastProperties(String.prototype));';
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...["--allow-natives-syntax", "--eval", program],
    ]);
    expect(stdout.trim()).to.equal("false");
  });
});

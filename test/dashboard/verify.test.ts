import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { VERIFY } from "../../dashboard/lib/verify.ts";
import { signatureHeaders } from "../../src/deliveries/attempt/sign.ts";

const newKey = () => `whsec_${randomBytes(32).toString("base64")}`;
const codeOf = (language: string) => VERIFY.find(one => one.language === language)?.code ?? "";

describe("what the dashboard shows for verifying a delivery", () => {
  const key = newKey();
  const body = JSON.stringify({ hello: "wörld" });
  const message = { id: "dlv_0000000000000001", timestamp: 1_700_000_000, body };
  // As after a rotation: the newer key signs first.
  const headers = signatureHeaders(message, [newKey(), key]);

  it("accepts a genuine delivery and no other, in JavaScript", async () => {
    const source = `data:text/javascript,${encodeURIComponent(codeOf("Node"))}`;
    const { isGenuine } = (await import(source)) as {
      isGenuine(headers: Record<string, string>, body: string, key: string): boolean;
    };
    expect(isGenuine(headers, body, key)).to.equal(true);
    expect(isGenuine(headers, `${body} `, key)).to.equal(false);
    expect(isGenuine(headers, body, newKey())).to.equal(false);
  });

  it("accepts a genuine delivery and no other, in Python", function () {
    const program = `${codeOf("Python")}
import json, sys
headers, body, key, other = json.load(sys.stdin)
print([is_genuine(headers, body.encode(), key), is_genuine(headers, b"x", key), is_genuine(headers, body.encode(), other)])`;
    const input = JSON.stringify([headers, body, key, newKey()]);
    const { error, stdout } = spawnSync("python3", ["-c", program], { input, encoding: "utf8" });
    if (error) return this.skip();
    expect(stdout.trim()).to.equal("[True, False, False]");
  });
});

import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { responseText } from "../../../src/deliveries/attempt/send.ts";

const shown = (
  body: Buffer,
  { truncated = false, ...headers }: { truncated?: boolean; [name: string]: unknown } = {},
) => responseText({ status: 200, headers: headers as Record<string, string>, body, truncated });

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);

const RESPONSES: [what: string, text: string, expected: string][] = [
  ["text", shown(Buffer.from("no such order")), "no such order"],
  ["nothing", shown(Buffer.alloc(0)), ""],
  ["text that goes on", shown(Buffer.from("no such"), { truncated: true }), "no such…"],
  [
    "text that is cut within a character",
    shown(Buffer.from("caf\u00e9").subarray(0, 4), { truncated: true }),
    "caf…",
  ],
  ["gzip", shown(gzipSync("no such order"), { "content-encoding": "gzip" }), "no such order"],
  ["deflate", shown(deflateSync("no such order"), { "content-encoding": "deflate" }), "no such order"],
  ["brotli", shown(brotliCompressSync("no such order"), { "content-encoding": "br" }), "no such order"],
  ["gzip in capitals", shown(gzipSync("no"), { "content-encoding": " GZIP " }), "no"],
  ["long text", shown(Buffer.from("x".repeat(1024)), { truncated: true }), `${"x".repeat(1023)}…`],
  ["as much text as is kept", shown(Buffer.from("x".repeat(1024))), "x".repeat(1024)],
  [
    "long text in gzip",
    shown(gzipSync("x".repeat(5000)), { "content-encoding": "gzip" }),
    `${"x".repeat(1023)}…`,
  ],
  ["an image", shown(PNG, { "content-type": "image/png" }), "[image/png, 12 bytes]"],
  ["bytes that are cut", shown(PNG, { truncated: true }), "[binary, more than 12 bytes]"],
  [
    "an unknown encoding",
    shown(Buffer.from("abc"), {
      "content-encoding": "zstd",
      "content-type": "application/json; charset=utf-8",
    }),
    "[zstd application/json, 3 bytes]",
  ],
  ["gzip that is none", shown(Buffer.from("abc"), { "content-encoding": "gzip" }), "[gzip binary, 3 bytes]"],
  [
    "a bomb",
    shown(gzipSync(Buffer.alloc(900_000, 97)).subarray(0, 1024), {
      "content-encoding": "gzip",
      truncated: true,
    }),
    "[gzip binary, more than 908 bytes]",
  ],
];

describe("the text of a response", () => {
  for (const [what, text, expected] of RESPONSES) {
    it(`is readable, or says what it is: ${what}`, () => {
      expect(text).to.equal(expected);
    });
  }

  it("is what can be read of compressed text that was cut", () => {
    const random = Array.from({ length: 3000 }, (_, n) => ((n * 7919) % 997).toString(36)).join(" ");
    const whole = JSON.stringify({ error: "no such order", random });
    const cut = gzipSync(whole).subarray(0, 1024);
    const text = shown(cut, { "content-encoding": "gzip", truncated: true });
    expect(text).to.match(/^\{"error":"no such order".*…$/);
    expect(whole.startsWith(text.slice(0, -1))).to.equal(true);
  });
});

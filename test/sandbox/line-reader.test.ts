import { expect } from "chai";
import fc from "fast-check";
import { scanJson } from "../../src/lib/scan-json.ts";
import { ProtocolViolation, readMessage } from "../../src/sandbox/check-message.ts";
import { createLineReader } from "../../src/sandbox/line-reader.ts";

const LIMITS = { maxEmitBytes: 500_000, maxEmitParsedBytes: 4_000_000, maxDepth: 100 };

const PREFIX = "s3cret ";

function readAll(chunks: Buffer[], limits = { maxLineBytes: 1000, maxNoiseBytes: 10_000 }) {
  const lines: string[] = [];
  const violations: string[] = [];
  const read = createLineReader({
    prefix: PREFIX,
    ...limits,
    onLine: line => lines.push(line),
    onViolation: reason => violations.push(reason),
  });
  for (const chunk of chunks) read(chunk);
  return { lines, violations };
}

function cut(bytes: Buffer, at: number[]): Buffer[] {
  const points = [...new Set(at.map(point => point % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...points].map((from, index) => bytes.subarray(from, points[index] ?? bytes.length));
}

const text = fc.string({ unit: "grapheme", maxLength: 60 }).map(value => value.replaceAll("\n", " "));

describe("a line reader", () => {
  it("returns the same lines however the bytes are split, and no noise", () => {
    const line = fc.record({ isMessage: fc.boolean(), text });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (sent, points) => {
          const bytes = Buffer.from(
            sent.map(({ isMessage, text: body }) => `${isMessage ? PREFIX : "x"}${body}\n`).join("\n"),
          );
          const { lines, violations } = readAll(cut(bytes, points));
          const expected = sent.filter(({ isMessage }) => isMessage).map(({ text: body }) => body);
          expect(lines).to.deep.equal(expected);
          expect(violations).to.deep.equal([]);
        },
      ),
    );
  });

  it("buffers at most one line of the longest permitted length, and reads nothing after a longer one", () => {
    const long = Buffer.alloc(2000, "a");
    for (const chunks of [[long], [long, Buffer.from("\n")], [Buffer.concat([long, Buffer.from("\n")])]]) {
      const { lines, violations } = readAll([...chunks, Buffer.from(`\n${PREFIX}{}\n`)]);
      expect(violations).to.deep.equal(["a line is too long"]);
      expect(lines).to.deep.equal([]);
    }
  });

  it("stops after too much noise", () => {
    const { violations } = readAll(Array.from({ length: 30 }, () => Buffer.from(`${"n".repeat(900)}\n`)));
    expect(violations).to.deep.equal(["too much output"]);
  });

  it("survives any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), chunks => {
        expect(readAll(chunks.map(chunk => Buffer.from(chunk))).violations.length).to.be.lessThan(2);
      }),
    );
  });
});

describe("a message of the child", () => {
  it("is accepted if it has the right shape, and rejected otherwise", () => {
    fc.assert(
      fc.property(fc.json(), json => {
        expect(() => readMessage(json, LIMITS)).to.throw(ProtocolViolation);
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), event => {
        const line = JSON.stringify({ kind: "emit", call: 1, event, metadata: { id: "a", name: "" } });
        expect(readMessage(line, LIMITS).message).to.have.property("kind", "emit");
      }),
    );
  });

  for (const line of [
    `{"kind":"emit","call":1,"event":1,"metadata":{"name":"$errors"}}`,
    `{"kind":"emit","call":1,"event":1,"metadata":{"id":{}}}`,
    `{"kind":"emit","call":-1,"event":1,"metadata":{}}`,
    `{"kind":"emit","call":1,"event":1,"metadata":{},"more":1}`,
    `{"kind":"respond","call":1,"status":99,"headers":{},"bodyBase64":""}`,
    `{"kind":"ended","call":1,"db":[]}`,
    `{"kind":"ended","call":1,"error":{"code":"x"}}`,
    `{"kind":"toString"}`,
    `null`,
  ]) {
    it(`is rejected: ${line}`, () => expect(() => readMessage(line, LIMITS)).to.throw(ProtocolViolation));
  }

  it("is rejected if its nesting could overflow the stack of recursive code", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const line = `{"kind":"emit","call":1,"event":${deep},"metadata":{}}`;
    expect(() => readMessage(line, LIMITS)).to.throw(ProtocolViolation, "deep");
  });

  it("has the nesting depth that a parser would count", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), value => {
        const json = JSON.stringify(value);
        return scanJson(json).depth === depthOf(JSON.parse(json));
      }),
    );
  });
});

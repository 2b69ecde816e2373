import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import {
  isSampled,
  parseTraceContext,
  readTraceHeaders,
  traceHeaders,
  traceIdOf,
} from "../../src/tracing/trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

/** A `tracestate` of so many characters; a value alone has at most 256. */
function stateOf(characters: number): string {
  const first = `a=${"x".repeat(252)},b=`;
  return first + "x".repeat(characters - first.length);
}

describe("a trace context", () => {
  it("is read from traceparent and tracestate, and written as they were", () => {
    const context = readTraceHeaders(SAMPLED, "a=1,tenant@b=x y") ?? "";
    expect(traceIdOf(context)).to.equal(TRACE);
    expect(isSampled(context)).to.equal(true);
    expect(traceHeaders(context)).to.deep.equal({ traceparent: SAMPLED, tracestate: "a=1,tenant@b=x y" });
    expect(traceHeaders(readTraceHeaders(SAMPLED, undefined))).to.deep.equal({ traceparent: SAMPLED });
  });

  it("keeps a tracestate of the greatest length", () => {
    const longest = stateOf(LIMITS.traceStateCharacters.value);
    expect(readTraceHeaders(SAMPLED, longest)).to.equal(`${SAMPLED} ${longest}`);
  });

  it("knows whether its trace is recorded", () => {
    for (const [flags, expected] of [
      ["00", false],
      ["01", true],
      ["02", false],
      ["03", true],
    ] as const) {
      const context = readTraceHeaders(`00-${TRACE}-${SPAN}-${flags}`, undefined) ?? "";
      expect(isSampled(context), flags).to.equal(expected);
    }
  });

  it("of a later version is read as far as this one goes", () => {
    const context = readTraceHeaders(`cc-${TRACE}-${SPAN}-01-what-comes-later`, undefined);
    expect(context).to.equal(SAMPLED);
  });

  for (const [fault, header] of [
    ["is absent", undefined],
    ["is empty", ""],
    ["has no version", `${TRACE}-${SPAN}-01`],
    ["has version ff", `ff-${TRACE}-${SPAN}-01`],
    ["has more than version 00 may", `${SAMPLED}-x`],
    ["has capital letters", SAMPLED.toUpperCase()],
    ["has a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["has a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["is short", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["is given twice", `${SAMPLED}, ${SAMPLED}`],
    ["has a line break", `${SAMPLED}\r\n`],
    ["is endless", `cc-${TRACE}-${SPAN}-01-${"x".repeat(10_000)}`],
  ] as const) {
    it(`is none if traceparent ${fault}`, () => {
      expect(readTraceHeaders(header, "a=1")).to.equal(undefined);
    });
  }

  for (const [fault, state] of [
    ["is no list of pairs", "nonsense"],
    ["names a key twice", "a=1,a=2"],
    ["has a bad key", "A=1"],
    ["has a value with =", "a=1=2"],
    ["has a line break", "a=1\r\nx-evil: 1"],
    ["has 33 members", Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(",")],
    ["is too long", stateOf(LIMITS.traceStateCharacters.value + 1)],
  ] as const) {
    it(`leaves out a tracestate that ${fault}`, () => {
      expect(readTraceHeaders(SAMPLED, state)).to.equal(SAMPLED);
    });
  }

  it("that an engine wrote is passed on only if it is one", () => {
    expect(parseTraceContext(`${SAMPLED} a=1`)).to.equal(`${SAMPLED} a=1`);
    expect(parseTraceContext(`${SAMPLED} a=1\r\nx: y`)).to.equal(SAMPLED);
    expect(parseTraceContext("nonsense")).to.equal(undefined);
    expect(parseTraceContext(undefined)).to.equal(undefined);
  });
});

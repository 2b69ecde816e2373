import { Ajv } from "ajv";
import { expect } from "chai";
import fc from "fast-check";
import { emissionProblem } from "../../src/queues/emissions.ts";
import { readMessage } from "../../src/sandbox/check-message.ts";
import { readMetadata } from "../../src/sandbox/child/emit-metadata.ts";
import { EventName } from "../../src/subscriptions/schema.ts";

const throws = (check: () => unknown) => {
  try {
    check();
    return false;
  } catch {
    return true;
  }
};
const isEventName = new Ajv({ strict: false }).compile(EventName);

/** What each door says of a name. */
const verdicts = (name: string) => ({
  sandbox: !throws(() => readMetadata({ name }, () => undefined)),
  host: !throws(() =>
    readMessage(JSON.stringify({ kind: "emit", call: 1, event: 1, metadata: { name } }), {
      maxEmitBytes: 100_000,
      maxDepth: 100,
      maxEmitParsedBytes: 4_000_000,
    }),
  ),
  queue: emissionProblem({ emitter_id: "p_0000000000000000", emit_id: "e", name, event: 1 }) === undefined,
  api: isEventName(name),
});

describe("the name of a channel", () => {
  const names: [string, boolean][] = [
    ["", true],
    ["news", true],
    ["a b/ü-😀", true],
    ["a$b", true],
    ["x".repeat(128), true],
    ["😀".repeat(128), true],
    ["x".repeat(129), false],
    ["😀".repeat(129), false],
    ["x".repeat(256), false],
    ["$own", false],
    ...["\n", "\r", "\0", "\u2028", "\u2029", "\u0085", "\t", "\ud800", "\udc00"].flatMap(
      (char): [string, boolean][] => [
        [char, false],
        [`a${char}b`, false],
        [`a${char}`, false],
      ],
    ),
  ];
  for (const [name, isValid] of names) {
    it(`${isValid ? "may" : "may not"} be ${JSON.stringify(name).slice(0, 40)} (${name.length}), at every door`, () => {
      const expected = { sandbox: isValid, host: isValid, queue: isValid, api: isValid };
      expect(verdicts(name)).to.deep.equal(expected);
    });
  }

  it("passes every door or none, but for the platform's own two", () => {
    const units = fc.constantFrom("a", "$", "\n", "\0", "\u2028", "\ud83d", "\ude00", "é", "\u0080", "😀");
    const name = fc.oneof(
      fc.string({ unit: "binary", maxLength: 140 }),
      fc.array(units, { maxLength: 140 }).map(parts => parts.join("")),
    );
    fc.assert(
      fc.property(name, text => {
        expect(new Set(Object.values(verdicts(text)))).to.have.property("size", 1);
      }),
    );
    for (const own of ["$errors", "$logs"]) {
      expect(verdicts(own)).to.deep.equal({ sandbox: false, host: false, queue: true, api: true });
    }
  });
});

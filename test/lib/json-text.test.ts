import { expect } from "chai";
import fc from "fast-check";
import { JsonText, jsonTextOf, parseAround, stringifyJson } from "../../src/lib/json-text.ts";
import { scanJson } from "../../src/lib/scan-json.ts";

const EVENTS = { member: "event", list: "events" };
const around = (json: string) =>
  parseAround(json, EVENTS) as { event?: JsonText; events?: { event?: JsonText }[] };

/** Values whose text `JSON.stringify(JSON.parse(text))` would change. */
const CHANGING = [
  "7615917337495251231",
  "1e400",
  "-0",
  "1.0",
  "1E5",
  '{"b": 1, "a": 2, "1": 3}',
  '{"a":1,"a":2}',
  '"\\u00e9\\/"',
  "[ 1,\r\n\t2 ]",
  '{"__proto__": {"a": 1}}',
];

describe("a JSON text", () => {
  for (const text of CHANGING) {
    it(`stays ${JSON.stringify(text)} on its way through other JSON`, () => {
      const { event } = around(`{ "id": "a", "event" : ${text} , "ts": 1}`);
      expect(event?.text).to.equal(text);
      expect(stringifyJson({ id: "a", event, list: [event] })).to.equal(
        `{"id":"a","event":${text},"list":[${text}]}`,
      );
      const { events } = around(`{"events":[{"event":${text}},{"event":${text},"id":"b"}]}`);
      expect(events?.map(one => one.event?.text)).to.deep.equal([text, text]);
    });
  }

  it("is found in the outermost object and in the objects of the list, and nowhere else", () => {
    const nested = '{"event":1,"events":[{"event":2}]}';
    const found = (json: string) =>
      scanJson(json, EVENTS).found.map(({ start, end }) => json.slice(start, end));
    expect(found(`{"event":${nested}}`)).to.deep.equal([nested]);
    expect(found(`{"events":[{"x":${nested},"event":${nested}}]}`)).to.deep.equal([nested]);
    expect(found(`{"x":{"event":1},"y":[{"event":1}],"events":{"z":{"event":1}}}`)).to.deep.equal([]);
    expect(found(`{"events":[[{"event":1}],"event",{"a":{"event":1}}]}`)).to.deep.equal([]);
    expect(found(`[{"event":1}]`)).to.deep.equal([]);
    expect(found(`{"e":"\\"event\\":1","\\u0065vent":"},]\\\\"}`)).to.deep.equal(['"},]\\\\"']);
  });

  it("of a key that is given twice is the last one, as for JSON.parse", () => {
    expect(around('{"event":1,"event":22}').event?.text).to.equal("22");
    expect(
      around('{"events":[{"event":1}],"events":[{"event":3,"event":4}]}').events?.[0]?.event?.text,
    ).to.equal("4");
  });

  it("parses around any JSON to what JSON.parse makes of it", () => {
    const key = fc.constantFrom("event", "events", "a", '"', "\\", "__proto__");
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 0 }),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie("value")), { maxLength: 3 }).map(entries => Object.fromEntries(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, fc.nat(2), (any, spaces) => {
        const json = JSON.stringify(any, null, spaces);
        expect(JSON.parse(stringifyJson(parseAround(json, EVENTS)))).to.deep.equal(JSON.parse(json));
      }),
      { numRuns: 1000 },
    );
  });

  it("knows its shape, as part of another as by itself", () => {
    fc.assert(
      fc.property(fc.json(), json => {
        const [{ start, end, ...shape } = { start: 0, end: 0 }] = scanJson(
          `{"a":[1],"event": ${json} }`,
          EVENTS,
        ).found;
        const { found: _, ...own } = scanJson(json);
        expect(shape).to.deep.equal(own);
        expect(end - start).to.equal(json.length);
      }),
    );
    expect(jsonTextOf([[], { a: [[1]] }]).shape.depth).to.equal(4);
  });

  it("is its value for JSON.stringify and for who looks into it", () => {
    const text = new JsonText('{"n": 1.0}');
    expect(text.value).to.deep.equal({ n: 1 });
    expect(JSON.stringify([text])).to.equal('[{"n":1}]');
    expect(jsonTextOf(undefined).text).to.equal("null");
    expect(jsonTextOf(text)).to.equal(text);
  });

  it("can't be made by a text that looks like the mark of one", () => {
    const marked = stringifyJson({ a: new JsonText("1"), b: "json-text-0123456789abcdef0123456789abcdef-0" });
    expect(marked).to.equal('{"a":1,"b":"json-text-0123456789abcdef0123456789abcdef-0"}');
  });
});

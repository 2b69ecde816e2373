import { expect } from "chai";
import { AppError, notFound } from "../../src/lib/errors.ts";
import { JsonText, stringifyJson } from "../../src/lib/json-text.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type Envelope, failed, STRANGERS, toolResult } from "../../src/mcp/result.ts";

const MOST = LIMITS.toolBytes.value;

function shown(envelope: Envelope, { isFirstPage = true, isSparse = false, quotesStrangers = false } = {}) {
  const { content, structuredContent } = toolResult(envelope, {
    quotesStrangers,
    list: { isFirstPage, isSparse },
  });
  expect(stringifyJson(structuredContent), "the same twice").to.equal(content[0]?.text);
  const text = content[0]?.text ?? "";
  return { text, value: JSON.parse(text) };
}

const page = (rows: unknown[], total: number, end: string | null): Envelope => ({
  data: rows,
  page_info: { total_count: total, end_cursor: end },
});

describe("mcp/result", () => {
  it("shows what fits as it was written", () => {
    const data = { id: "1", event: new JsonText('{"b":1.0,"a":12345678901234567890}') };
    const { text, value } = shown({ data });
    expect(text).to.equal('{"data":{"id":"1","event":{"b":1.0,"a":12345678901234567890}}}');
    expect(value).to.have.all.keys("data");
  });

  it("cuts what is larger, and says so", () => {
    const events: unknown[] = [
      { text: "x".repeat(500_000) },
      { list: Array.from({ length: 100_000 }, (_, i) => i) },
      { deep: Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => "abc")) },
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, "é".repeat(40)])),
    ];
    for (const event of events) {
      const { text, value } = shown({ data: { id: "1-0", event } });
      expect(Buffer.byteLength(text)).to.be.at.most(MOST + 100);
      expect(value.truncated).to.equal(true);
      expect(value.data.id).to.equal("1-0");
    }
  });

  it("keeps all rows of a page, whose room they share", () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ id: `${i}`, text: "x".repeat(10_000) }));
    const { text, value } = shown(page(rows, 100, "c"));
    expect(Buffer.byteLength(text)).to.be.at.most(MOST + 200);
    expect(value.data.map(({ id }: { id: string }) => id)).to.deep.equal(rows.map(({ id }) => id));
    expect(value).to.deep.include({ truncated: true, next_cursor: "c" });
  });

  it("has a cursor unless the list has ended", () => {
    expect(shown(page([1, 2], 2, "c")).value.next_cursor).to.equal(null);
    expect(shown(page([1, 2], 3, "c")).value.next_cursor).to.equal("c");
    expect(shown(page([1, 2], 2, "c"), { isFirstPage: false }).value.next_cursor).to.equal("c");
    expect(shown(page([1, 2], 2, "c"), { isSparse: true }).value.next_cursor).to.equal("c");
    expect(shown(page([], 2, null), { isSparse: true }).value.next_cursor).to.equal(null);
  });

  it("marks what strangers have sent", () => {
    expect(shown({ data: {} }, { quotesStrangers: true }).value.notice).to.equal(STRANGERS);
    expect(shown({ data: {} }).value).not.to.have.property("notice");
  });

  it("tells of an error what can be done, and nothing of one that was not expected", () => {
    const text = (error: unknown) => {
      const { content, isError, structuredContent } = failed(error);
      expect([isError, structuredContent]).to.deep.equal([true, undefined]);
      return content[0]?.text;
    };
    expect(text(notFound("source"))).to.equal("Not found: source not found");
    expect(text(new AppError("rate-limited", "too much", { retryAfterMs: 2500 }))).to.match(
      /too much; try again in 3 s/,
    );
    expect(text(new Error("password=hunter2"))).to.not.contain("hunter2");
  });
});

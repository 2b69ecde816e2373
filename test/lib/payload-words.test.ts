import { expect } from "chai";
import { wordsOfPayload, wordsOfText } from "../../src/lib/payload-words.ts";

describe("the words of a payload", () => {
  const has = (payload: unknown, text: string) => {
    const words = wordsOfPayload(payload, 24);
    return wordsOfText(text).every(word => words.includes(word));
  };
  const order = {
    id: "order-17",
    total: 7.5,
    customer: { email: "Ada@Example.com", name: "Ada Łoś" },
    at: "2026-11-23T02:34:02.120Z",
    link: "https://shop.example/orders/17?ref=a1",
    items: [{ sku: "SKU_9" }],
  };

  for (const text of [
    "order-17",
    "ORDER-17",
    "ada@example.com",
    "łoś ada",
    "7.5",
    "2026-11-23T02:34:02.120Z",
    "shop.example",
    "SKU_9",
    "(order-17)",
  ]) {
    it(`find it by ${text}`, () => expect(has(order, text)).to.equal(true));
  }

  for (const text of ["order", "example.com", "email", "customer", "order-18", "ada grace"]) {
    it(`do not find it by ${text}: it is part of a word, the name of a field, or not there`, () => {
      expect(has(order, text)).to.equal(false);
    });
  }

  it("are as many as are kept, those near the top first, and ids and addresses before words and times", () => {
    const payload = { lines: Array.from({ length: 5000 }, (_, i) => `deep${i}`), id: "top-1" };
    const words = wordsOfPayload(payload, 24);
    expect(words).to.have.length(24);
    expect(words[0]).to.equal(wordsOfText("top-1")[0]);
    const { id, customer } = order;
    expect(wordsOfPayload(order, 2)).to.have.members(wordsOfText(`${id} ${customer.email}`));
    expect(wordsOfPayload(order, 0)).to.deep.equal([]);
    expect(wordsOfPayload(["a", "b", null, true, {}], 24)).to.deep.equal([]);
  });

  it("differ", () => {
    const words = Array.from({ length: 100_000 }, (_, i) => wordsOfText(`word${i}`)[0]);
    expect(new Set(words).size).to.equal(words.length);
    expect(words.every(Number.isSafeInteger)).to.equal(true);
  });
});

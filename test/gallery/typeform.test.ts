import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { openSource } from "./open-shipped.ts";
import { json, startTypeform, startVendor, type TypeformHook, type Vendor } from "./vendors.ts";

const ENDPOINT = "http://127.0.0.1/in/x";
const field = (id: string, ref: string, type: string) => ({ id, ref, type });

/** As typeform.com/developers/webhooks/example-payload has it. */
const RESPONSE = {
  event_id: "LtWXD3crgy",
  event_type: "form_response",
  form_response: {
    form_id: "u6nXL7",
    token: "a3a12ec67a1365927098a606107fac15",
    landed_at: "2026-11-29T08:00:00Z",
    submitted_at: "2026-11-29T08:02:00Z",
    hidden: { source: "newsletter" },
    calculated: { score: 9 },
    definition: {
      id: "u6nXL7",
      title: "Ask for an offer",
      fields: [
        { id: "f1", title: "How many?", type: "number", ref: "count", properties: {} },
        { id: "f2", title: "Who are you?", type: "short_text", ref: "name", properties: {} },
      ],
    },
    answers: [
      { type: "number", number: 0, field: field("f1", "count", "number") },
      { type: "text", text: "Ada", field: field("f2", "name", "short_text") },
      { type: "boolean", boolean: false, field: field("f3", "terms", "legal") },
      { type: "choice", choice: { label: "Blue" }, field: field("f4", "colour", "multiple_choice") },
      { type: "choice", choice: { other: "Teal" }, field: field("f5", "other", "multiple_choice") },
      {
        type: "choices",
        choices: { labels: ["A", "B"], other: "C" },
        field: field("f6", "all", "multiple_choice"),
      },
      {
        type: "payment",
        payment: { amount: "12.90", last4: "4242", success: true },
        field: field("f7", "paid", "payment"),
      },
    ],
  },
};

describe("the gallery's source of Typeform", () => {
  let sandboxes: Sandboxes;
  let typeform: Vendor<TypeformHook>;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());
  beforeEach(async () => {
    typeform = await startTypeform("tfp_1");
  });
  afterEach(() => typeform.close());

  const open = (given: object = {}) =>
    openSource(sandboxes, "headwater-typeform-responses", {
      ...{ token: "tfp_1", form: "u6nXL7", api: typeform.url, ...given },
    });
  const signed = (body: unknown, secret = typeform.hooks[0]?.secret ?? "") => {
    const bodyRaw = JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(bodyRaw).digest("base64");
    return {
      ...{ method: "POST", path: "/", query: {}, bodyRaw, body, url: ENDPOINT, client_ip: "192.0.2.1" },
      headers: { "typeform-signature": `sha256=${signature}` },
    };
  };

  it("makes one webhook, replaces it after a crash, and deletes it, also of a deployment that was given up", async () => {
    expect((await (await open()).call("activate")).failed).to.equal(null);
    expect((await (await open()).call("activate")).failed).to.equal(null);
    expect(typeform.hooks).to.have.length(1);
    expect(typeform.hooks[0]).to.deep.include({ url: ENDPOINT, enabled: true, form: "u6nXL7" });
    expect((await (await open()).call("deactivate")).failed).to.equal(null);
    expect(typeform.hooks).to.deep.equal([]);
    expect((await (await open()).call("deactivate")).failed, "somebody deleted it there").to.equal(null);
    const gone = await startVendor([], () => json(410, { description: "is gone" }));
    expect((await (await open({ api: gone.url })).call("deactivate")).failed).to.equal(null);
    await gone.close();
  });

  it("emits what is signed, once, with each answer at its question", async () => {
    const source = await open();
    await source.call("activate");
    expect(await source.events(signed(RESPONSE, "a guess"))).to.deep.equal([]);
    const { emits } = await source.run(signed(RESPONSE));
    const [{ event, metadata } = expect.fail("no event")] = emits;
    expect(metadata).to.include({ id: "LtWXD3crgy", summary: "Ask for an offer: Ada" });
    expect(event).to.deep.include({
      form: { id: "u6nXL7", title: "Ask for an offer" },
      response: "a3a12ec67a1365927098a606107fac15",
      hidden: { source: "newsletter" },
    });
    const { answers } = event as { answers: { question: string | null; ref: string; value: unknown }[] };
    expect(answers.map(({ ref, value }) => [ref, value])).to.deep.equal([
      ["count", 0],
      ["name", "Ada"],
      ["terms", false],
      ["colour", "Blue"],
      ["other", "Teal"],
      ["all", ["A", "B", "C"]],
      ["paid", { amount: "12.90", last4: "4242", success: true }],
    ]);
    expect(answers[1]).to.include({ question: "Who are you?", type: "text" });
    expect(await source.events(signed(RESPONSE)), "delivered again").to.deep.equal([]);
    expect(
      await source.events(signed({ ...RESPONSE, event_id: "e2", event_type: "form_response_partial" })),
    ).to.deep.equal([]);
  });

  it("says what Typeform says", async () => {
    const wrong = await (await open({ token: "wrong" })).call("activate");
    expect(wrong.failed).to.match(/status 403: Authentication failed$/);
    const gone = await (await open({ form: "nothing" })).call("activate");
    expect(gone.failed).to.match(/status 404: form not found$/);
  });
});

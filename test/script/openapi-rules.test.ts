import { expect } from "chai";
import { openapiFaults } from "../../script/openapi-rules.ts";

const operation = (more: object = {}) => ({
  operationId: "getThing",
  description: "Gets it.",
  responses: {
    200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" }, example: {} } } },
  },
  ...more,
});

const documentWith = (more: { schemas?: object; get?: object; components?: object; webhooks?: object }) => ({
  paths: { "/things": { get: operation(more.get) } },
  webhooks: more.webhooks ?? { event: { post: operation({ operationId: "receive" }) } },
  components: {
    schemas: { Thing: { type: "object" }, ...more.schemas },
    securitySchemes: { bearerKey: { type: "http" } },
    ...more.components,
  },
});

const used = (name: string) => ({ properties: { other: { $ref: `#/components/schemas/${name}` } } });

const FAULTY: [what: string, document: object, fault: RegExp][] = [
  [
    "a schema with the name of another one's constructor",
    { schemas: { NewThing: used("NewThing") } },
    /NewThing: generated/,
  ],
  [
    "a schema with the name of a security scheme",
    { schemas: { BearerKey: used("BearerKey") } },
    /BearerKey: generated/,
  ],
  ["two schemas whose names differ by case", { schemas: { THING: used("THING") } }, /THING: generated/],
  [
    "a schema with the name of an operation's request",
    { schemas: { GetThingRequest: used("GetThingRequest") } },
    /GetThingRequest/,
  ],
  [
    "a constant that is true",
    { schemas: { Thing: { properties: { cut: { type: "boolean", const: true } } } } },
    /\/cut: a constant/,
  ],
  [
    "a choice with only one truth",
    { schemas: { Thing: { properties: { cut: { type: "boolean", enum: [true] } } } } },
    /\/cut: a constant/,
  ],
  ["an unused schema", { schemas: { Alone: { type: "object" } } }, /schemas Alone: is not used/],
  ["an unused response", { components: { responses: { timeout: {} } } }, /responses timeout: is not used/],
  ["an operation without a description", { get: { description: undefined } }, /getThing: has no description/],
  [
    "a response without an example",
    { get: { responses: { 200: { content: { "text/plain": {} } } } } },
    /its response has no example/,
  ],
  [
    "a body without an example",
    { get: { requestBody: { content: { "application/json": {} } } } },
    /its body has no example/,
  ],
  ["no description of what a receiver gets", { webhooks: {} }, /no webhooks/],
];

describe("the rules of the OpenAPI document", () => {
  it("accept a document that keeps them", () => {
    expect(openapiFaults(documentWith({}))).to.deep.equal([]);
  });

  for (const [what, document, fault] of FAULTY) {
    it(`reject ${what}`, () => {
      const faults = openapiFaults(documentWith(document));
      expect(faults.join("\n")).to.match(fault);
    });
  }
});

import { expect } from "chai";
import { Type } from "typebox";
import { shortener } from "../../src/mcp/short-schema.ts";

describe("mcp/short-schema", () => {
  const plain = (schema: object) => JSON.parse(JSON.stringify(schema));

  it("has the fields of a row with their types, and nothing of what is inside of them", () => {
    const Row = Type.Object(
      {
        id: Type.String({ description: "Of the row: `r_…`. Another sentence; and more." }),
        count: Type.Union([Type.Integer(), Type.Null()]),
        state: Type.Union([Type.Literal("on"), Type.Literal("off"), Type.Null()]),
        parts: Type.Array(Type.Object({ deep: Type.String({ description: "Deep." }) })),
        maybe: Type.Union([Type.Array(Type.String()), Type.Null()]),
        inner: Type.Union([Type.Object({ a: Type.String() }), Type.Null()]),
        any: Type.Unknown({ description: "Whatever it is." }),
        either: Type.Union([Type.Literal("a"), Type.Integer()]),
      },
      { title: "Row" },
    );
    expect(shortener()(plain(Row))).to.deep.equal({
      type: "object",
      properties: {
        id: { type: "string", description: "Of the row: `r_…`" },
        count: { type: ["integer", "null"] },
        state: { enum: ["on", "off", null] },
        parts: { type: "array", items: { type: "object" } },
        maybe: { type: ["array", "null"], items: { type: "string" } },
        inner: { type: ["object", "null"] },
        any: { description: "Whatever it is" },
        either: {},
      },
    });
  });

  it("says once what a field is, and again where it is another", () => {
    const shorten = shortener();
    const row = (description: string) => plain(Type.Object({ at: Type.Integer({ description }) }));
    const said = (description: string) => {
      const { properties } = shorten(row(description)) as { properties: { at: { description?: string } } };
      return properties.at.description;
    };
    expect([said("When."), said("When."), said("Where.")]).to.deep.equal(["When", undefined, "Where"]);
  });

  it("keeps the branches of a row that is one of several, and a row that is no object", () => {
    const rows = plain(Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]));
    expect(shortener()(rows)).to.deep.equal({
      anyOf: [
        { type: "object", properties: { a: { type: "string" } } },
        { type: "object", properties: { b: { type: "string" } } },
      ],
    });
    expect(shortener()(plain(Type.String()))).to.deep.equal({ type: "string" });
  });
});

import { expect } from "chai";
import { findKind, isSecret } from "../../src/props/kinds.ts";

describe("findKind", () => {
  it("finds a list only of kinds that have lists", () => {
    for (const type of ["string", "integer", "boolean", "object", "any"]) {
      expect(findKind(`${type}[]`), type)
        .to.equal(findKind(type))
        .and.have.property("type", type);
    }
    for (const type of ["app", "alert", "http_request", "data_store", "$.interface.http", "$.service.db"]) {
      expect(findKind(type), type).to.have.property("type", type);
      expect(findKind(`${type}[]`), `${type}[]`).to.equal(undefined);
    }
  });

  it("finds any `$.…` type as one that an app defines, except those of the platform", () => {
    for (const type of ["$.airtable.baseId", "$.discord.channel[]"]) {
      expect(findKind(type), type).to.include({ needsValue: true });
    }
    for (const type of ["$.interface.queue", "$.service.mail", "$", "$.", "text", "constructor"]) {
      expect(findKind(type), type).to.equal(undefined);
    }
  });
});

describe("isSecret", () => {
  it("is true for a secret prop of any kind and for credentials", () => {
    expect(isSecret({ name: "p", type: "string", secret: true })).to.equal(true);
    expect(isSecret({ name: "p", type: "app" })).to.equal(true);
    expect(isSecret({ name: "p", type: "string" })).to.equal(false);
  });
});

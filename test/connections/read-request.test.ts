import { expect } from "chai";
import { checkEventRules, readAppRequest } from "../../src/connections/app-events.ts";
import type { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { AppEventRules } from "../../src/models/connection.ts";

const REQUEST = {
  body: { event: { type: "message", channel: "C1" }, count: 7, list: ["a"] },
  headers: { "x-event": "push" },
  query: { "hub.challenge": "echo me" },
};

const read = (rules: AppEventRules, request = REQUEST) => {
  const { names, ...rest } = readAppRequest(rules, request);
  return { names: [...names], ...rest };
};

describe("a request of an app", () => {
  it("is an event of the names that it has values for", () => {
    const names = [
      "{{headers.x-event}}",
      "{{body.event.type}}",
      "{{body.event.type}}:{{body.event.channel}}",
      "{{body.event.type}}:{{body.event.absent}}",
      "n{{body.count}}",
      "{{body.count}}",
      "{{body.list}}",
    ];
    expect(read({ names }).names).to.deep.equal(["push", "message", "message:C1", "n7", "7"]);
    expect(read({}).names).to.deep.equal([]);
    const long = { ...REQUEST, headers: { "x-event": "x".repeat(LIMITS.eventNameChars.value + 1) } };
    expect(read({ names: ["{{headers.x-event}}"] }, long).names).to.deep.equal([]);
  });

  it("is given to sources as its body, or as the part of it that the rules name", () => {
    expect(read({}).event).to.equal(REQUEST.body);
    expect(read({ event: "{{body.event}}" }).event).to.equal(REQUEST.body.event);
    expect(read({ event: "{{request}}" }).event).to.equal(REQUEST);
    expect(read({ event: "{{body.absent}}" }).event).to.equal(undefined);
    const large = { ...REQUEST, body: { ...REQUEST.body, text: "x".repeat(LIMITS.ingressBodyBytes.value) } };
    expect(read({ event: "{{body}}" }, large).event, "of any size that is accepted").to.equal(large.body);
  });

  it("may ask for a text to be sent back", () => {
    expect(read({}).challenge).to.equal(null);
    expect(read({ challenge: '{{query["hub.challenge"]}}' }).challenge).to.equal("echo me");
    expect(read({ challenge: "{{body.count}}" }).challenge, "not a text").to.equal(null);
    expect(read({ challenge: "{{body.absent}}" }).challenge).to.equal(null);
  });
});

describe("the rules by which an app's requests are read", () => {
  const faultOf = (rules: AppEventRules): string => {
    try {
      checkEventRules(rules);
      return "";
    } catch (error) {
      return (error as AppError).message;
    }
  };

  it("are templates of the request", () => {
    expect(
      faultOf({ names: ["{{body.a}}:{{query.b}}"], event: "{{request}}", challenge: "{{body.c}}" }),
    ).to.equal("");
    expect(faultOf({ names: ["{{body.a}}", "push"] })).to.match(/^events\.names\[1\]: must have a template/);
    expect(faultOf({ names: ["{{event.a}}"] })).to.match(
      /^events\.names\[0\]: \{\{event\.a\}\} must be the path/,
    );
    expect(faultOf({ names: ["{{body.a()}}"] })).to.match(/^events\.names\[0\]/);
    expect(faultOf({ event: "{{body.a}}{{body.b}}" })).to.match(/^events\.event: must be one template/);
    expect(faultOf({ challenge: "{{" })).to.match(/^events\.challenge/);
    expect(faultOf({ names: Array.from({ length: 11 }, () => "{{body.a}}") })).to.match(
      /^events\.names: must be at most/,
    );
    expect(faultOf({ names: [`{{body.a}}${"x".repeat(500)}`] })).to.match(/at most 500 characters/);
  });
});

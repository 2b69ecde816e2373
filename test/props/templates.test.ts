import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { fillTemplates, hasTemplates, TemplateError, templateFaults } from "../../src/props/templates.ts";

const scope = {
  event: {
    user: { name: "Ada", "e-mail": "ada@example.com" },
    items: [{ id: 7 }, "two"],
    none: null,
    "a.b": 1,
  },
  context: { id: "dlv_1", test: false },
};
const fill = (value: unknown) => fillTemplates(value, scope);
const failure = (value: unknown): TemplateError => {
  try {
    fill(value);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error("was filled in");
};

describe("templates in an action's props", () => {
  it("keep the type of a value that is the whole text", () => {
    expect(fill("{{event.user}}")).to.deep.equal(scope.event.user);
    expect(fill("{{ event.items[0].id }}")).to.equal(7);
    expect(fill("{{event.none}}")).to.equal(null);
    expect(fill("{{context.test}}")).to.equal(false);
    expect(fill("{{steps.trigger.event}}")).to.equal(scope.event);
    expect(fill("{{steps.trigger.context.id}}")).to.equal("dlv_1");
  });

  it("become parts of any other text", () => {
    expect(fill("Hi {{event.user.name}}, {{event.items.0.id}}!")).to.equal("Hi Ada, 7!");
    expect(fill("{{event.user.name}}{{event.none}}.")).to.equal("Ada.");
    expect(fill(" {{event.items}}")).to.equal(' [{"id":7},"two"]');
  });

  it("name what is not an identifier in brackets, and a dash as it is", () => {
    expect(fill('{{event["a.b"]}}')).to.equal(1);
    expect(fill("{{event.user.e-mail}}")).to.equal("ada@example.com");
    expect(failure('{{event["}}"]}}').message).to.include("is absent");
  });

  it("are filled in at any depth, but not in keys", () => {
    expect(
      fill({ "{{event.user.name}}": ["{{event.items[1]}}", { deep: "x{{event.user.name}}" }] }),
    ).to.deep.equal({
      "{{event.user.name}}": ["two", { deep: "xAda" }],
    });
  });

  it("are left as they are behind a backslash", () => {
    expect(fill("\\{{event.user.name}} {{event.user.name}}")).to.equal("{{event.user.name}} Ada");
    expect(templateFaults("\\{{ not a path }}")).to.deep.equal([]);
  });

  it("name the place of a value that is absent", () => {
    expect(failure({ rows: ["a", "{{event.user.age}}"] })).to.include({
      path: ".rows[1]",
      message: "{{event.user.age}} is absent from this event",
    });
    for (const path of ["user.constructor", "__proto__", "items.length", "user.name.length", "items[9]"]) {
      expect(failure(`{{event.${path}}}`).message, path).to.include("is absent");
    }
  });

  it("together make no value larger than a prop may be", () => {
    const event = "x".repeat(40_000);
    const twice = () => fillTemplates(["{{event}}", "{{event}}"], { event, context: {} });
    expect(twice).to.throw(TemplateError, "64 KB");
  });

  it("must be paths, and not too many", () => {
    const wrong = [
      "{{}}",
      "{{user}}",
      "{{event.}}",
      "{{event.a b}}",
      "{{event + 1}}",
      "{{event[x]}}",
      "{{event",
    ];
    for (const text of [...wrong, "{{events.a}}", "{{env.HOME}}", "{{event['a']}}", "a }} {{ b"]) {
      expect(templateFaults(text), text).to.have.length(1);
    }
    expect(templateFaults({ a: ["ok", "{{x}}"] })[0]?.path).to.equal(".a[1]");
    expect(templateFaults("{{event.a}} and {{context.ts}}")).to.deep.equal([]);
    const most = LIMITS.templates.value;
    expect(templateFaults("{{event.a}}".repeat(most))).to.deep.equal([]);
    expect(templateFaults("{{event.a}}".repeat(most + 1))).to.deep.equal([
      { path: "", message: "has more than 200 templates" },
    ]);
    expect(hasTemplates({ a: [1, "no {templates}"] })).to.equal(false);
  });
});

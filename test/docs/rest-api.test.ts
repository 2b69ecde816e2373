import { expect } from "chai";
import { read } from "./repository.ts";

interface Schema {
  properties?: Record<string, unknown>;
}

const { paths, components } = JSON.parse(read("openapi.json")) as {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, Schema> };
};

const text = read("docs/rest-api.md");

/** Returns the names in the first column of the table below a heading. */
function fieldsBelow(heading: string): string[] {
  const section = text.split(/^#{2,3} /m).find(part => part.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter(line => line.startsWith("| `"));
  return rows.flatMap(row =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  );
}

describe("docs/rest-api.md", () => {
  it("has the routes of openapi.json", () => {
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    );
    const listed = [...text.matchAll(/^\| `((?:GET|POST|PUT|DELETE) [^`]+)`/gm)].map(
      ([, route = ""]) => route,
    );
    expect(listed.sort()).to.deep.equal(described.sort());
  });

  const RESOURCES = {
    Component: "Component",
    Source: "Source",
    Subscription: "Subscription",
    Webhook: "Webhook",
    Destination: "Destination",
    "Event summary": "EventSummary",
    "Current user": "CurrentUser",
  };
  for (const [heading, schema] of Object.entries(RESOURCES)) {
    it(`has the fields of "${heading}"`, () => {
      const described = Object.keys(components.schemas[schema]?.properties ?? {});
      expect(fieldsBelow(heading).sort()).to.deep.equal(described.sort());
    });
  }
});

import { expect } from "chai";
import fc from "fast-check";
import { slugOf } from "../../src/lib/slug.ts";

describe("the slug of a name", () => {
  const slugs: [string, string][] = [
    ["My Source!", "my-source"],
    ["  --RSS: New Item--  ", "rss-new-item"],
    ["Über Ärger", "uber-arger"],
    ["İstanbul", "istanbul"],
    ["ﬁle № 4", "file-no-4"],
    ["東京", "source"],
    ["", "source"],
    ["!!!", "source"],
    ["dc_0CjB9uPc7RfT1xLs", "dc-0cjb9upc7rft1xls"],
  ];
  for (const [name, slug] of slugs) {
    it(`of ${JSON.stringify(name)} is ${slug}`, () => expect(slugOf(name)).to.equal(slug));
  }

  it("consists of lower-case words joined by hyphens, and is its own slug", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), name => {
        const slug = slugOf(name);
        expect(slug).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slugOf(slug)).to.equal(slug);
      }),
    );
  });
});

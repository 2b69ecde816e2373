import { expect } from "chai";
import { galleryDocument } from "../../src/gallery/document.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import { read } from "../docs/repository.ts";

describe("docs/gallery-components.md", () => {
  it("is committed as the gallery generates it", async () => {
    const isEqual = read("docs/gallery-components.md") === galleryDocument(await readShipped());
    expect(isEqual, "docs/gallery-components.md is stale: run npm run docs:gallery").to.equal(true);
  });

  it("has a section for each component, with what it needs and each of its props", async () => {
    const { components } = await readShipped();
    const document = galleryDocument({ apps: [], components });
    for (const { key, description } of components) {
      expect(document).to.include(`\`${key}\`, version ${description.version}`);
      for (const { name, hidden, type } of description.props) {
        if (!hidden && type !== "$.service.db") expect(document, key).to.include(`| \`${name}\` | ${type}`);
      }
    }
  });
});

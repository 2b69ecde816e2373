import { readFileSync, writeFileSync } from "node:fs";
import { galleryDocument } from "../src/gallery/document.ts";
import { readShipped } from "../src/gallery/shipped.ts";
import { runScript, UserError } from "./lib/user-error.mjs";

const DOCUMENT = new URL("../docs/gallery-components.md", import.meta.url);
const VERSIONS = new URL("../gallery/versions.json", import.meta.url);

/**
 * `npm run docs:gallery`: writes docs/gallery-components.md from the built gallery, and the hashes of new versions to
 * gallery/versions.json. What was released under a version stays as it was: code that has changed needs another one.
 */
await runScript(async () => {
  const shipped = await readShipped();
  const known = JSON.parse(readFileSync(VERSIONS, "utf8")) as Record<
    string,
    { version: string; hash: string }
  >;
  const versions = shipped.components.map(({ key, description: { version }, built: { hash } }) => {
    if (known[key]?.version === version && known[key].hash !== hash) {
      throw new UserError(
        `the code of ${key} has changed: raise its version there and in its CHANGELOG.md, or, if ${version} was not released yet, ` +
          "delete its entry in gallery/versions.json",
      );
    }
    return [key, { version, hash }] as const;
  });
  writeFileSync(VERSIONS, `${JSON.stringify(Object.fromEntries(versions), null, 2)}\n`);
  writeFileSync(DOCUMENT, galleryDocument(shipped));
});

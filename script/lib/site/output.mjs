import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { compress } from "../compress.mjs";

/** There are hundreds of pages, and a build should take a second. */
const PAGE_QUALITY = 5;

const hashOf = content => createHash("sha256").update(content).digest("base64url").slice(0, 16);

/** The folder that the site is built into: pages by their paths, listed in `site.json`, and assets, whose names have a hash. */
export class Output {
  assets;
  #folder;
  #pages = {};

  constructor(folder) {
    this.#folder = folder;
    this.assets = join(folder, "assets");
    mkdirSync(this.assets, { recursive: true });
  }

  /**
   * Adds what is served at a path of the server; `kind` is the end of its file, whose name is of its content: a server that knows an
   * earlier build never sends another page in its place.
   */
  page(path, kind, content) {
    const hash = hashOf(content);
    const file = `pages/${hash}.${kind}`;
    mkdirSync(join(this.#folder, "pages"), { recursive: true });
    writeFileSync(join(this.#folder, file), content);
    compress(join(this.#folder, file), PAGE_QUALITY);
    this.#pages[path] = { file, etag: `"${hash}"` };
  }

  /** Adds an asset; returns its name. */
  asset(name, content) {
    const end = extname(name);
    const hashed = `${name.slice(0, -end.length)}-${hashOf(content).replaceAll(/[-_]/g, "0").slice(0, 8)}${end}`;
    writeFileSync(join(this.assets, hashed), content);
    return hashed;
  }

  finish() {
    for (const name of readdirSync(this.assets)) {
      if (!name.endsWith(".png")) compress(join(this.assets, name));
    }
    writeFileSync(join(this.#folder, "site.json"), JSON.stringify(this.#pages));
  }
}

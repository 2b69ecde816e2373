import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { SITE } from "./address.mjs";
import { addressOf } from "./pages.mjs";

/** What the server itself has at another place. */
const ELSEWHERE = { "openapi.json": "/v1/openapi.json" };

/**
 * Resolves what documents link to. `pages` are the pages by address. Other files are collected in `files`, and pictures
 * in `images`, each by its path from `root`: they become a part of the site.
 */
export class Links {
  files = new Set();
  folders = new Set();
  images = new Map();
  #root;
  #pages;

  constructor(root, pages) {
    this.#root = root;
    this.#pages = pages;
  }

  /** The address of what `href` means on a page, with its anchor; null if nothing is there. */
  resolve(page, href) {
    if (/^(https?|mailto):/.test(href)) return href;
    const [path = "", anchor] = href.split("#");
    const address = path === "" ? page.address : this.#addressOf(normalize(join(dirname(page.file), path)));
    return address && (anchor === undefined ? address : `${address}#${anchor}`);
  }

  #addressOf(file) {
    const path = file.replace(/\/$/, "");
    const page = addressOf(path) ?? (path.startsWith("docs/") ? path.replace(/^docs/, SITE) : null);
    if (this.#pages.has(page)) return page;
    if (ELSEWHERE[path]) return ELSEWHERE[path];
    const full = join(this.#root, path);
    if (path.startsWith("..") || !existsSync(full)) return null;
    (statSync(full).isDirectory() ? this.folders : this.files).add(path);
    return `${SITE}/files/${path}`;
  }

  /** The address of a picture, whose file gets `name` among the assets. */
  image(page, href, nameOf) {
    const file = normalize(join(dirname(page.file), href));
    if (!this.images.has(file)) this.images.set(file, nameOf(join(this.#root, file), basename(file)));
    return `${SITE}/assets/${this.images.get(file)}`;
  }
}

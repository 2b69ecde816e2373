import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Context } from "koa";

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};
/** In the order of preference. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** The built files, also for a process that runs from the sources (`npm run dev`). */
const DIST = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist" : "../..", import.meta.url),
);

/** A folder of files that `npm run build` has compressed. */
export class BuiltFolder {
  readonly #path: string;
  readonly #names: Set<string>;
  /** Files that were asked for: to read one takes less than the request, and a buffer for each would be garbage. */
  readonly #read = new Map<string, Buffer>();

  private constructor(path: string) {
    this.#path = path;
    this.#names = new Set(
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => relative(path, join(entry.parentPath, entry.name))),
    );
  }

  /** Opens a folder of dist/; null if nothing is built. */
  static open(name: string): BuiltFolder | null {
    try {
      return new BuiltFolder(join(DIST, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  /** Only a name that was there: nothing of a request becomes a path. */
  has(name: string): boolean {
    return this.#names.has(name) && typeOf(name) !== undefined;
  }

  read(name: string): Buffer {
    const content = this.#read.get(name) ?? readFileSync(join(this.#path, name));
    this.#read.set(name, content);
    return content;
  }

  /** Responds with a file, in the best encoding that the client accepts; with 304 if it has that already. */
  send(ctx: Context, name: string): void {
    ctx.vary("Accept-Encoding");
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    const accepted = ENCODINGS.find(
      ([encoding, end]) => this.#names.has(name + end) && ctx.acceptsEncodings(encoding),
    );
    if (accepted) ctx.set("Content-Encoding", accepted[0]);
    ctx.body = this.read(name + (accepted?.[1] ?? ""));
    ctx.type = typeOf(name) ?? "";
  }

  /** Responds with a file whose name has the hash of its content. */
  sendForever(ctx: Context, name: string): void {
    ctx.set("Cache-Control", "public, max-age=31536000, immutable");
    this.send(ctx, name);
  }
}

const typeOf = (name: string): string | undefined => TYPES[name.slice(name.lastIndexOf(".") + 1)];

/**
 * Returns the policy of pages with scripts of a folder at `path`. Those are allowed only: `'self'` would allow what components respond
 * below `/in/`, which is the same host without an `INGRESS_URL` (docs/design.md#browsers). The public host is named beside that of
 * the request, which a proxy may have changed. A host in brackets can't be named in a policy, so that there it is `'self'`.
 */
export function policyFor(path: string, hosts: string[], more: Record<string, string>): string {
  const assets = [...new Set(hosts.map(host => (isPlain(host) ? `${host}${path}` : "'self'")))].join(" ");
  const directives = {
    "default-src": "'none'",
    "script-src": assets,
    "style-src": assets,
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'none'",
    ...more,
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
  };
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}

const isPlain = (host: string): boolean => /^[a-z0-9.-]+(:\d+)?$/i.test(host);

import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** One version of a package: its manifest and its files by path; a text that begins with `->` makes a symlink. */
export interface Published {
  manifest: { name: string; version: string; [key: string]: unknown };
  files: Record<string, string | Buffer>;
}

export interface NpmRegistry {
  /** For `npmEnvironment`: npm uses this registry, and a cache of its own. */
  environment: NodeJS.ProcessEnv;
  /** An empty folder for prepared packages. */
  cacheDir: string;
  /** The paths that npm has asked for, in order. */
  requests: string[];
  close(): Promise<void>;
}

/** Starts an npm registry with these packages on loopback. It does not keep the process alive. */
export async function startNpmRegistry(published: Published[]): Promise<NpmRegistry> {
  const requests: string[] = [];
  const tarballs = new Map<string, Buffer>();
  const keyOf = ({ manifest }: Published) => `${manifest.name}/${manifest.version}`;
  const tarballOf = (one: Published): Buffer => {
    const known = tarballs.get(keyOf(one)) ?? tarball(one);
    tarballs.set(keyOf(one), known);
    return known;
  };
  const packumentOf = (name: string, versions: Published[]) => ({
    name,
    "dist-tags": { latest: versions.at(-1)?.manifest.version },
    versions: Object.fromEntries(
      versions.map(one => {
        const digest = createHash("sha512").update(tarballOf(one)).digest("base64");
        const dist = { tarball: `${origin}/tar/${keyOf(one)}`, integrity: `sha512-${digest}` };
        return [one.manifest.version, { ...one.manifest, dist }];
      }),
    ),
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    requests.push(path);
    const archived = published.find(one => path === `tar/${keyOf(one)}`);
    if (archived) return response.end(tarballOf(archived));
    const versions = published.filter(one => one.manifest.name === path);
    const isKnown = versions.length > 0;
    response
      .writeHead(isKnown ? 200 : 404, { "content-type": "application/json" })
      .end(JSON.stringify(isKnown ? packumentOf(path, versions) : {}));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await mkdtemp(join(tmpdir(), "headwater-npm-"));
  return {
    environment: {
      ...process.env,
      npm_config_registry: `${origin}/`,
      npm_config_cache: join(folder, "npm"),
    },
    cacheDir: join(folder, "cache"),
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function tarball({ manifest, files }: Published): Buffer {
  const entries = Object.entries({ ...files, "package.json": JSON.stringify(manifest) });
  const blocks = entries.flatMap(([path, content]) => entry(`package/${path}`, content));
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 1 });
}

const NAME_BYTES = 100;

function entry(path: string, content: string | Buffer): Buffer[] {
  const link = typeof content === "string" && content.startsWith("->") ? content.slice(2) : "";
  const body = link === "" ? Buffer.from(content) : Buffer.alloc(0);
  // A long path is cut at a slash: the first part goes into the field for prefixes.
  const cut = path.length > NAME_BYTES ? path.indexOf("/", path.length - NAME_BYTES - 1) : -1;
  const header = Buffer.alloc(512);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(path.slice(cut + 1), 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(body.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write("        ", 148);
  header.write(link === "" ? "0" : "2", 156);
  header.write(link, 157);
  header.write("ustar\x0000", 257);
  header.write(path.slice(0, Math.max(cut, 0)), 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

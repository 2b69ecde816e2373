import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** One version of a package: its manifest, and its files by path. A text that starts with `->` makes a symlink. */
export interface Published {
  manifest: { name: string; version: string; [key: string]: unknown };
  files: Record<string, string>;
}

export interface NpmRegistry {
  /** For `npmEnvironment`: npm uses this registry and a separate cache. */
  environment: NodeJS.ProcessEnv;
  /** An empty folder for installed packages. */
  cacheDir: string;
  requests: string[];
  close(): Promise<void>;
}

/** Starts a registry on loopback that npm can use. */
export async function startNpmRegistry(published: Published[]): Promise<NpmRegistry> {
  const requests: string[] = [];
  const tarballs = new Map(
    published.map(one => [`${one.manifest.name}/${one.manifest.version}`, tarball(one)]),
  );
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    requests.push(path);
    const tar = tarballs.get(path.replace(/^tar\//, ""));
    if (tar) return response.end(tar);
    const versions = published.filter(one => one.manifest.name === path);
    if (versions.length === 0)
      return response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const packument = {
      name: path,
      "dist-tags": { latest: versions.at(-1)?.manifest.version },
      versions: Object.fromEntries(
        versions.map(({ manifest }) => {
          const key = `${manifest.name}/${manifest.version}`;
          const digest = createHash("sha512").update(tarballs.get(key) as Buffer);
          const dist = { tarball: `${origin}/tar/${key}`, integrity: `sha512-${digest.digest("base64")}` };
          return [manifest.version, { ...manifest, dist }];
        }),
      ),
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const folder = await mkdtemp(join(tmpdir(), "headwater-npm-"));
  return {
    environment: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
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
  const entries = Object.entries({ "package.json": JSON.stringify(manifest), ...files });
  const blocks = entries.flatMap(([path, text]) => entry(`package/${path}`, text));
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function entry(path: string, text: string): Buffer[] {
  const link = text.startsWith("->") ? text.slice(2) : "";
  const body = Buffer.from(link === "" ? text : "");
  const header = Buffer.alloc(512);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(path, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(body.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write("        ", 148);
  header.write(link === "" ? "0" : "2", 156);
  header.write(link, 157);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

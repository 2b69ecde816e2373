import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fixturePath } from "./fixture.ts";

/** Serves the fixtures over HTTP, as a public repository serves its files. */
export async function startFixtureSite(): Promise<{ urlOf(file: string): string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const text = await readFile(fixturePath(request.url ?? ""), "utf8").catch(() => null);
    response.writeHead(text === null ? 404 : 200, { "content-type": "text/plain" }).end(text);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    urlOf: file => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${file}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

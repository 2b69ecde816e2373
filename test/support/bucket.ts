import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import aws4, { type Request as Aws4Request } from "aws4";

export const KEYS = {
  region: "eu-central-1",
  access_key_id: "AKIDEXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

export interface StoredObject {
  body: string;
  headers: IncomingMessage["headers"];
}

/** A bucket on this machine: it stores what it is put, if `aws4` computes the same signature for it as it was sent. */
export interface Bucket {
  url: string;
  /** By path, decoded. */
  objects: Map<string, StoredObject>;
  /** How many objects were put, repeats included. */
  puts: number;
  stop(): Promise<void>;
  /** Starts it again with the same port and objects. */
  start(): Promise<void>;
}

export async function openBucket(): Promise<Bucket> {
  let server: Server;
  let port = 0;
  const objects = new Map<string, StoredObject>();
  const start = async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      if (!isSigned(request, body)) {
        response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
        return;
      }
      bucket.puts += 1;
      objects.set(decodeURIComponent(request.url ?? ""), { body, headers: request.headers });
      response.writeHead(200).end();
    });
    await new Promise<void>(resolve => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  const bucket: Bucket = {
    url: `http://127.0.0.1:${port}/bucket`,
    objects,
    puts: 0,
    start,
    async stop() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return bucket;
}

function isSigned({ method = "", url = "", headers }: IncomingMessage, body: string): boolean {
  const given = headers.authorization ?? "";
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(";") ?? [];
  if (headers["x-amz-content-sha256"] !== createHash("sha256").update(body).digest("hex")) return false;
  // Its types lack the last field.
  const signed: Aws4Request & { extraHeadersToIgnore: Record<string, boolean> } = {
    service: "s3",
    region: KEYS.region,
    method,
    path: url,
    headers: Object.fromEntries(names.map(name => [name, String(headers[name])])),
    body,
    extraHeadersToIgnore: { "content-length": true },
  };
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = KEYS;
  return aws4.sign(signed, { accessKeyId, secretAccessKey }).headers?.Authorization === given;
}

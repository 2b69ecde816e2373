import { createHash, createHmac } from "node:crypto";
import type { SignatureV4 } from "@smithy/signature-v4";
import { loadLater } from "../../lib/load-later.ts";
import type { S3Settings } from "./kind.ts";

const signer = loadLater<{ SignatureV4: typeof SignatureV4 }>("@smithy/signature-v4", import.meta.url);

/** SHA-256, or HMAC-SHA-256 if there is a secret, as the signer wants it. */
class Sha256 {
  #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

interface ToSign {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
}

/** Returns the headers of a request with its signature (AWS Signature Version 4) at this moment. */
export async function signRequest(
  { region, access_key_id, secret_access_key }: S3Settings,
  { method, url, headers, body }: ToSign,
  atMs: number,
): Promise<Record<string, string>> {
  const { SignatureV4 } = signer();
  const sigv4 = new SignatureV4({
    service: "s3",
    region,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key },
    sha256: Sha256 as never,
    // S3 alone takes the path as it is sent.
    uriEscapePath: false,
  });
  const signed = await sigv4.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== "" && { port: Number(url.port) }),
      path: url.pathname,
      query: {},
      headers: { ...headers, host: url.host },
      body,
    },
    { signingDate: new Date(atMs) },
  );
  const { host: _, ...rest } = signed.headers;
  return rest;
}

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { signatureHeaders } from "../../src/deliveries/attempt/sign.ts";

export const secret = `whsec_${Buffer.from("a key of thirty-two bytes, exact").toString("base64")}`;

/** A server of a test, on a free loopback port. */
export interface Listening {
  url: string;
  close(): Promise<void>;
}

/** Starts a server of `node:http`, which is what Express's and Koa's applications are called by. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** What a receiver responded. */
export interface Responded {
  status: number;
  text: string;
  headers: Headers;
}

/** Sends a delivery as Headwater does; `headers` and `body` change what is sent, not what is signed. */
export async function deliver(
  url: string,
  payload: unknown,
  { id = "dlv_1", headers = {}, body }: { id?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Responded> {
  const signed = JSON.stringify(payload);
  const timestamp = Math.floor(Date.now() / 1000);
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...signatureHeaders({ id, timestamp, body: signed }, [secret]),
      ...headers,
    },
    body: body ?? signed,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

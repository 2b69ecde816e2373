import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export interface IngressResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** Sends a request exactly as given: `fetch` would normalize its path and headers. Each part of `body` is a chunk. */
export function send(
  url: string,
  options: { method?: string; path?: string; headers?: OutgoingHttpHeaders; body?: (string | Buffer)[] } = {},
): Promise<IngressResponse> {
  const { hostname, port, pathname } = new URL(url);
  const { method = "POST", path = "", headers = {}, body = [] } = options;
  return new Promise((resolve, reject) => {
    const sending = request(
      { hostname, port, method, path: pathname + path, headers, agent: false },
      response => {
        const chunks: Buffer[] = [];
        response.on("data", chunk => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: bytes,
            text: bytes.toString(),
          });
        });
      },
    );
    // A server that has already responded may close the connection while the rest of the body is being sent.
    sending.on("error", error => setImmediate(reject, error));
    for (const part of body) sending.write(part);
    sending.end();
  });
}

/** Sends bytes on a new connection and returns everything that is received until the server closes it. */
export function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = "";
    socket.setEncoding("latin1");
    socket.on("data", chunk => {
      received += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}

import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export interface IngressResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** A request exactly as given: `fetch` would tidy up its path and its headers. `body` parts are sent in chunks. */
export function send(
  url: string,
  options: { method?: string; path?: string; headers?: OutgoingHttpHeaders; body?: (string | Buffer)[] } = {},
): Promise<IngressResponse> {
  const { hostname, port, pathname } = new URL(url);
  const { method = "POST", path = "", headers = {}, body = [] } = options;
  return new Promise((resolve, reject) => {
    const sending = request(
      { hostname, port, method, path: pathname + path, headers, agent: false },
      answer => {
        const chunks: Buffer[] = [];
        answer.on("data", chunk => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: bytes,
            text: bytes.toString(),
          });
        });
      },
    );
    // A server that has answered already may close while the rest of the body is still on its way.
    sending.on("error", error => setImmediate(reject, error));
    for (const part of body) sending.write(part);
    sending.end();
  });
}

/** Sends these bytes on a connection of its own and answers all that comes back until it is closed. */
export function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", chunk => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

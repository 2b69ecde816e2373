import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeExport, type ExportedSpan } from "./otlp.ts";

/** A collector of traces for tests, which receives OTLP over HTTP as others do. */
export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** In the order of their arrival. */
  spans: ExportedSpan[];
  /** Headers of each request. */
  requests: IncomingHttpHeaders[];
  /** Spans of one trace. */
  of(traceId: string): ExportedSpan[];
  /** With which status it responds from now on; null for not at all. */
  respond(status: number | null): void;
  close(): Promise<void>;
}

/** Starts a collector on a free loopback port. */
export async function startCollector(): Promise<Collector> {
  const spans: ExportedSpan[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let status: number | null = 200;
  const end = (response: ServerResponse) => {
    if (status === null) return;
    response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", chunk => chunks.push(chunk));
    request.on("end", () => {
      requests.push(request.headers);
      const isExport = request.method === "POST" && request.url === "/v1/traces";
      if (isExport && status === 200) spans.push(...decodeExport(Buffer.concat(chunks)));
      end(response);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    of: traceId => spans.filter(span => span.traceId === traceId),
    respond(next) {
      status = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

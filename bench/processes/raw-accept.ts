import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Queue } from "bullmq";
import { addRawJobs, type RawQueue } from "../raw-queue.ts";
import { serveParent } from "../serve-parent.ts";

/** The raw limit's front: an HTTP request becomes BullMQ jobs, and gets its response once Redis has them. */
export interface AcceptRequest {
  queue: RawQueue;
  webhookUrls: string[];
}

let webhookUrls: string[] = [];
let queue: Queue | undefined;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", chunk => chunks.push(chunk));
  request.on("end", async () => {
    try {
      if (queue) await addRawJobs(queue, webhookUrls, Buffer.concat(chunks).toString());
      response.writeHead(200).end();
    } catch {
      response.writeHead(503).end();
    }
  });
});

serveParent<AcceptRequest>(async request => {
  webhookUrls = request.webhookUrls;
  queue ??= new Queue(request.queue.name, { connection: { url: request.queue.redisUrl } });
  if (!server.listening) await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
});

import type { Readable } from "node:stream";
import { expect } from "chai";
import { watchEvents } from "../../src/events/live.ts";
import { newId } from "../../src/lib/ids.ts";
import { append } from "../support/event-log.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { openRedisCluster } from "../support/redis-cluster.ts";
import { openRedisNodes } from "../support/redis-nodes.ts";
import { until } from "../support/until.ts";

interface Servers {
  url: string;
  /** Ends the connections of subscribers, and no others: workers go on at once. */
  cut(): Promise<unknown>;
  close(): Promise<void>;
}

const KILL: [string, ...string[]] = ["CLIENT", "KILL", "TYPE", "pubsub"];

async function openSingle(): Promise<Servers> {
  const nodes = await openRedisNodes();
  const node = await nodes.server();
  return { url: node.url, cut: () => node.ask(...KILL), close: nodes.close };
}

async function openCluster(): Promise<Servers> {
  const { url, nodes, close } = await openRedisCluster({ replicas: 0 });
  return { url, cut: () => Promise.all(nodes.map(node => node.ask(...KILL))), close };
}

describe("a stream of events", () => {
  describeLost("Redis", openSingle);
  describeLost("its node of a Redis Cluster", openCluster);
});

function describeLost(from: string, open: () => Promise<Servers>): void {
  describe(`that loses its connection to ${from}`, () => {
    let redis: Servers;
    let platform: TestPlatform;
    before(async () => {
      redis = await open();
      platform = await openTestPlatform({ REDIS_URL: redis.url }, { process: "web" });
    });
    after(async () => {
      for (const stream of streams) stream.destroy();
      await platform.destroy();
      await redis.close();
    });

    const source = newId("dc");
    const streams: Readable[] = [];
    async function watch(lastEventId: string | null) {
      const request = { lastEventId, userId: "u", whyEnded: async () => null, heartbeatMs: 60_000 };
      const stream = await watchEvents(platform, source, request);
      const seen = { text: "", isOver: false };
      stream.setEncoding("utf8").on("data", chunk => {
        seen.text += chunk;
      });
      streams.push(stream);
      stream.once("end", () => {
        seen.isOver = true;
      });
      return seen;
    }
    const emit = (emit_id: string) =>
      append(platform.eventLog, source, "emits", {
        event: { raw_event: emit_id },
        metadata: { emit_id, name: "", emitter_id: source },
      });

    it("ends, so that its reader resumes and misses nothing of what came in between", async () => {
      const first = await watch(null);
      const { eventId } = await emit("before");
      await until(() => first.text.includes("before"));
      await redis.cut();
      await emit("between");
      await until(() => first.isOver || first.text.includes("between"), { what: "the event, or the end" });
      const second = await watch(eventId);
      await until(() => second.text.includes("between"));
      await emit("after");
      await until(() => second.text.includes("after"));
      expect(second.text.match(/^id: /gm)).to.have.length(2);
    });
  });
}

import { newSecret, subscribe as subscribeAgent } from "../test/mcp/events/agent.ts";
import { parse, positive, runEntry } from "./entry.ts";
import { growListeners } from "./growth.ts";
import type { Headwater } from "./headwater.ts";
import { machineLine, machineOf } from "./machine.ts";
import { type Figures, measure } from "./measure.ts";
import type { Side } from "./side.ts";
import { type Stores, storesOfEnvironment } from "./stores.ts";
import { quantile } from "./times.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:agents -- [options]

Measures the fan-out to agents that have subscribed over the Model Context Protocol (docs/agents.md#events) beside that to as many
webhooks, in turn, round by round: events that are published over HTTP, each to all of them. One agent has subscribed, and one
webhook was created, as a client does it; the others are copies of their rows.

  --listeners N  agents, and webhooks (default 1000)
  --events N     in each round, to each kind (default 20)
  --rounds N     (default 5)`;

const SENDERS = 4;
const KINDS = ["webhooks", "agents"] as const;
type Kind = (typeof KINDS)[number];

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      listeners: { type: "string", default: "1000" },
      events: { type: "string", default: "20" },
      rounds: { type: "string", default: "5" },
    },
  });
  const listeners = positive(values.listeners, "--listeners");
  const events = positive(values.events, "--events");
  const rounds = positive(values.rounds, "--rounds");
  const stores = storesOfEnvironment();
  console.log(machineLine(machineOf(stores)));
  await withHeadwater({ stores, settings: {} }, async ({ headwater, ends }) => {
    const urlOf = (number: number) => `${ends.receiverUrl}/${number}`;
    const measured: Record<Kind, Figures[]> = { webhooks: [], agents: [] };
    const sides: Record<Kind, Side> = {
      webhooks: await setUp(headwater, stores, { kind: "webhooks", listeners, urlOf }),
      agents: await setUp(headwater, stores, { kind: "agents", listeners, urlOf }),
    };
    for (let round = 1; round <= rounds; round++) {
      for (const kind of KINDS) {
        const figures = await measure(sides[kind], { events, webhooks: listeners, senders: SENDERS }, ends);
        measured[kind].push(figures);
        const { deliveredPerSecond, cpu, latencyMs, lost, doubled } = figures;
        console.log(
          `${round} ${kind}: ${Math.round(deliveredPerSecond)} delivered/s, ${cpu.all.toFixed(2)} CPU s per 1,000, ` +
            `p50 ${Math.round(latencyMs.p50)} ms, lost ${lost}, doubled ${doubled}`,
        );
        if (lost > 0) throw new Error(`${lost} deliveries were lost`);
      }
    }
    const ratios = KINDS.map(kind => ({
      time: quantile(Float64Array.from(measured[kind], one => 1 / one.deliveredPerSecond).sort(), 0.5),
      cpu: quantile(Float64Array.from(measured[kind], one => one.cpu.all).sort(), 0.5),
    }));
    const [webhooks, agents] = ratios as [(typeof ratios)[number], (typeof ratios)[number]];
    console.log(
      `\nagents : webhooks, medians of ${rounds} rounds: time ${(agents.time / webhooks.time).toFixed(2)}, ` +
        `CPU ${(agents.cpu / webhooks.cpu).toFixed(2)}`,
    );
  });
}

/** Makes a workflow with so many listeners of a kind. */
async function setUp(
  { api, watched, whenIdle }: Headwater,
  stores: Stores,
  { kind, listeners, urlOf }: { kind: Kind; listeners: number; urlOf: (number: number) => string },
): Promise<Side> {
  const workflow = await api.expect<{ id: string }>(201, "POST", "/workflows", { body: { name: kind } });
  const [url, secret] = [urlOf(0), newSecret()];
  const connect = async () => {
    if (kind === "webhooks") {
      const webhook = await api.createWebhook(url);
      await api.subscribe(workflow.id, webhook.id);
      return webhook.id;
    }
    const wanted = { name: "workflow.event", arguments: { workflow: workflow.id }, url, secret };
    const { result, error } = await subscribeAgent(api, wanted);
    if (error) throw new Error(error.message);
    return result.id as string;
  };
  await growListeners(stores, { id: await connect(), urlOf }, listeners - 1);
  const urls = [`${api.baseUrl}/workflows/${workflow.id}/events`];
  return {
    target: { kind: "publish", urls, apiKey: api.apiKey, connections: SENDERS },
    stores,
    watched: [...watched, ...stores.watched],
    whenIdle,
  };
}

await runEntry(HELP, main);

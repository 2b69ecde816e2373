// runs-long: npm test has test/flows/crash.test.ts, whose webhook is delivered to in the same way
import { expect } from "chai";
import { call, newSecret, startCallback, verified } from "../mcp/events/agent.ts";
import { until } from "../support/until.ts";
import { openProcesses, type Processes } from "./processes.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;
const PROCESSES = ["web", "runs", "emissions", "deliveries", "deletions"];
/** Each process is killed so many times, while events come all the time. */
const ROUNDS = 2;
const PACE_MS = 20;

describe("processes that are killed between an event and an agent's callback", () => {
  let processes: Processes;
  let agent: Awaited<ReturnType<typeof startCallback>>;
  before(async () => {
    processes = await openProcesses();
    agent = await startCallback();
  });
  after(async () => {
    await processes?.close();
    await agent?.close();
  });

  it("lose no event that was accepted, and notify of none under another id", async () => {
    const { api, start, kill } = processes;
    await Promise.all(PROCESSES.map(start));
    const source = await api.createSource({ component_code: CODE });
    const secret = newSecret();
    const delivery = { mode: "webhook", url: agent.url, secret };
    const wanted = { name: "source.event", arguments: { source: source.id }, delivery };
    const { result } = await call(api, "events/subscribe", wanted);
    expect(result.id).to.match(/^ms_/);

    const accepted: number[] = [];
    let isOver = false;
    const sending = (async () => {
      for (let n = 1; !isOver; n++) {
        const response = await fetch(source.configured_props.http?.endpoint_url ?? "", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ n }),
        }).catch(() => null);
        if (response?.status === 200) accepted.push(n);
        await new Promise(resolve => setTimeout(resolve, PACE_MS));
      }
    })();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        for (const name of PROCESSES) {
          const seen = agent.events.length;
          await until(() => agent.events.length > seen, { timeoutMs: 120_000, what: `news before ${name}` });
          await kill(name);
          await start(name);
        }
      }
    } finally {
      isOver = true;
      await sending;
    }

    const hasCome = () => {
      const numbers = new Set(agent.events.map(({ raw }) => JSON.parse(raw).data.event.n));
      return accepted.every(n => numbers.has(n));
    };
    await until(hasCome, { timeoutMs: 120_000, what: "all have come" });
    const ids = new Map<number, Set<string>>();
    for (const event of agent.events) {
      const { eventId, data } = verified(secret, event);
      expect(event.headers["webhook-id"]).to.equal(eventId);
      ids.set(data.event.n, (ids.get(data.event.n) ?? new Set()).add(eventId));
    }
    expect([...ids.values()].filter(({ size }) => size !== 1)).to.deep.equal([]);
    expect(new Set([...ids.values()].flatMap(one => [...one])).size, "an id for each").to.equal(ids.size);
    expect(accepted.length).to.be.greaterThan(ROUNDS * PROCESSES.length);
  });
});

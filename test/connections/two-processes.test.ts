import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { newId } from "../../src/lib/ids.ts";
import { Connections } from "../../src/models/connection.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { enqueueRun, runs } from "../../src/queues/runs.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";
import { type AppServer, connectTo, registerApp, startAppServer } from "./app-server.ts";

const PUBLIC_URL = "http://127.0.0.1:9";
const CODE = `export default { name: "Uses", version: "0.0.1",
  props: { http: "$.interface.http", demo: { type: "app", app: "demo" } },
  run() { this.$emit({ token: this.demo.$auth.oauth_access_token }); } };`;

describe("the token of a connection that two processes need", () => {
  let platform: TestPlatform;
  let web: WebServer;
  let server: AppServer;
  let processes: WorkerProcess[] = [];

  before(async () => {
    platform = await openTestPlatform({ PUBLIC_URL }, { process: "web" });
    web = await startWeb(platform);
    server = await startAppServer(PUBLIC_URL);
    await registerApp(platform, server);
  });
  after(async () => {
    for (const one of processes) {
      one.kill("SIGKILL");
      await one.ended;
    }
    await server?.stop();
    await web?.close();
    await platform?.destroy();
  });

  it("is renewed once, although a run of each finds it ended at the same time @long", async () => {
    const { id: ownerId, api_key } = await createUser(platform, { email: "two@example.test", plan: "paid" });
    const api = new Api(`http://127.0.0.1:${web.port}/v1`, api_key);
    const authProvisionId = await connectTo(platform, server, ownerId);
    const env = { ...environmentOf(platform.config), CONCURRENCY: "runs:1" };
    const names = ["runs", "runs", "emissions"];
    processes = names.map(name => spawnWorker(name, env));
    for (const one of processes) await whenReady(one);
    const deploy = () =>
      api.createSource({ component_code: CODE, configured_props: { demo: { authProvisionId } } });
    const sources = [(await deploy()).id, (await deploy()).id];

    const past = Date.now() - 1000;
    const ended = { expires_at_ms: past, renew_from_ms: past };
    await Connections(platform.mongo).updateOne({ _id: authProvisionId }, { $set: ended });
    await platform.routing.invalidate([ownerId]);
    const release = server.holdTokens();
    for (const id of sources) {
      await enqueueRun(platform, id, { kind: "http", run_id: newId("run"), at_ms: Date.now(), event: {} });
    }
    // Each executes one run at a time, and none can end.
    await until(async () => (await openedQueue(platform.queues, runs).getActiveCount()) === 2, {
      what: "a run in each process",
    });
    await until(() => server.held > 0, { what: "a request for a token" });
    release();

    const rows = await Promise.all(
      sources.map(id => until(async () => (await api.summaries(id))[0], { what: `the event of ${id}` })),
    );
    const tokens = rows.map(({ event }) => event.raw_event.token);
    expect(tokens[0]).to.be.a("string");
    expect(tokens[1]).to.equal(tokens[0]);
    expect(server.grants).to.deep.equal(["refresh_token"]);
    for (const one of processes.slice(0, 2)) {
      await until(() => one.output().includes('"msg":"run"'), { what: "a run in each of the processes" });
    }
    const connection = await Connections(platform.mongo).findById(authProvisionId).lean();
    expect(connection?.health).to.equal("working");
  });
});

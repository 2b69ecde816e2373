import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Agent, fetch as fetchOfUndici } from "undici";
import { choosePort } from "../../../script/lib/ports.mjs";
import { TEST_TLS } from "../../egress/test-tls.ts";
import { startOpenIdProvider, type TestProvider } from "../../support/openid-provider.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../../workers/worker-process.ts";
import { Visitor } from "./visitor.ts";

// A process reads NODE_EXTRA_CA_CERTS when it starts, so these are web processes of their own.
describe("sign-in with a provider whose certificate is of an own authority", () => {
  let platform: TestPlatform;
  let provider: TestProvider;
  let folder: string;
  let web: WorkerProcess | undefined;
  before(async () => {
    platform = await openTestPlatform();
    provider = await startOpenIdProvider({ tls: TEST_TLS });
    provider.people.set("anna", { email: "anna@acme.test", email_verified: true });
    folder = await mkdtemp(join(tmpdir(), "headwater-tls-"));
    await writeFile(join(folder, "ca.pem"), TEST_TLS.cert);
  });
  afterEach(async () => {
    web?.kill("SIGTERM");
    await web?.ended;
  });
  after(async () => {
    await platform?.destroy();
    await provider?.stop();
    await agent.close();
    await rm(folder, { recursive: true, force: true });
  });

  const agent = new Agent({ connect: { ca: TEST_TLS.cert } });
  /** As a browser into which the authority was imported. */
  const fetchTrusting = ((url: URL, init: object) =>
    fetchOfUndici(url, { ...init, dispatcher: agent })) as unknown as typeof fetch;

  async function startWeb(env: Record<string, string>): Promise<Visitor> {
    const port = await choosePort(0);
    const publicUrl = `http://127.0.0.1:${port}`;
    web = spawnWorker("web", {
      ...environmentOf(platform.config),
      ...provider.env,
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      ...env,
    });
    await whenReady(web);
    await provider.returnTo(publicUrl);
    return new Visitor(`${publicUrl}/v1`, fetchTrusting);
  }

  it("works once the web process is given the authority's certificate @long", async () => {
    const anna = await startWeb({ NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });
    const response = await anna.signIn("anna");
    expect(new URL(response.headers.get("location") ?? "").pathname).to.equal("/dashboard");
    expect(await anna.me()).to.include({ email: "anna@acme.test" });
  });

  it("is not begun without it", async () => {
    const anna = await startWeb({});
    const begun = await anna.begin();
    expect([begun.status, await begun.text()].join()).to.match(
      /^503,.*127\.0\.0\.1 can't be reached right now/,
    );
    expect(web?.output()).to.match(/the OpenID provider can't be used/);
    expect(web?.output()).to.match(/certificate/);
  });
});

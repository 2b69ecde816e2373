import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { openSource } from "./open-shipped.ts";
import { type GitlabHook, startGitlab, type Vendor } from "./vendors.ts";

const ENDPOINT = "http://127.0.0.1/in/x";
/** As docs.gitlab.com/user/project/integrations/webhook_events has it, in parts. */
const MERGE_REQUEST = {
  object_kind: "merge_request",
  user: { name: "Ada" },
  project: { path_with_namespace: "engines/analytical" },
  object_attributes: { title: "Notes", action: "open" },
};
const PUSH = {
  object_kind: "push",
  user_name: "Ada",
  project: { path_with_namespace: "engines/analytical" },
};

describe("the gallery's source of GitLab", () => {
  let sandboxes: Sandboxes;
  let gitlab: Vendor<GitlabHook>;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());
  beforeEach(async () => {
    gitlab = await startGitlab("glpat-1");
  });
  afterEach(() => gitlab.close());

  const open = (given: object = {}) =>
    openSource(sandboxes, "headwater-gitlab-events", {
      ...{ token: "glpat-1", path: "engines/analytical", url: `${gitlab.url}/`, ...given },
    });
  const activated = async (given: object = {}) => {
    const source = await open(given);
    expect((await source.call("activate")).failed).to.equal(null);
    return source;
  };
  const sent = (body: unknown, key = "i-1", token = gitlab.hooks[0]?.token ?? "") => ({
    ...{ method: "POST", path: "/", query: {}, url: ENDPOINT, client_ip: "192.0.2.1" },
    headers: { "x-gitlab-event": "Some Hook", "x-gitlab-token": token, "idempotency-key": key },
    ...{ bodyRaw: JSON.stringify(body), body },
  });

  it("makes one webhook, finds it again after a crash, and deletes it, also of a deployment that was given up", async () => {
    const source = await activated({ events: ["merge_requests"] });
    expect(gitlab.hooks).to.have.length(1);
    const [hook] = gitlab.hooks;
    expect(hook).to.include({ url: ENDPOINT, enable_ssl_verification: true });
    const wanted = Object.entries(hook ?? {}).filter(([name, is]) => name.endsWith("_events") && is);
    expect(wanted, "not pushes, which GitLab takes for wanted").to.deep.equal([
      ["merge_requests_events", true],
    ]);
    const [{ token } = expect.fail()] = gitlab.hooks;
    await activated();
    expect(gitlab.hooks).to.have.length(1);
    expect(gitlab.hooks[0]).to.include({ push_events: true, releases_events: true });
    expect(gitlab.hooks[0]?.token)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(token);
    expect((await (await open()).call("deactivate")).failed).to.equal(null);
    expect(gitlab.hooks).to.deep.equal([]);
    expect((await source.call("deactivate")).failed, "somebody deleted it there").to.equal(null);
  });

  it("is one of a group, with the events that groups have", async () => {
    const source = await activated({ kind: "group", path: "engines" });
    expect(gitlab.hooks[0]).to.include({ member_events: true, push_events: true });
    expect(gitlab.requests.at(-1)?.path).to.equal("/api/v4/groups/engines/hooks");
    expect(await source.choices("path")).to.deep.equal(["engines"]);
    expect(await (await open()).choices("path")).to.deep.equal(["engines/analytical"]);
  });

  it("emits what has the token, once, and nothing else", async () => {
    const source = await activated();
    const { emits } = await source.run(sent(MERGE_REQUEST));
    expect(emits.map(({ event }) => event)).to.deep.equal([
      { event: "merge_request", payload: MERGE_REQUEST },
    ]);
    expect(emits[0]?.metadata).to.include({
      ...{ id: "i-1", summary: "merge_request open in engines/analytical by Ada: Notes" },
    });
    expect(await source.events(sent(MERGE_REQUEST)), "delivered again").to.deep.equal([]);
    expect((await source.run(sent(PUSH, "i-2"))).emits[0]?.metadata).to.include({
      summary: "push in engines/analytical by Ada",
    });
    expect(await source.events(sent(PUSH, "i-3", "a guess"))).to.deep.equal([]);
    const { headers, ...older } = sent(PUSH);
    const { "idempotency-key": _, ...without } = headers;
    expect(await source.events({ ...older, headers: without }), "of an older release").to.have.length(1);
  });

  it("says what GitLab says", async () => {
    expect((await (await open({ token: "wrong" })).call("activate")).failed).to.match(
      /status 401: 401 Unauthorized$/,
    );
    expect((await (await open({ path: "a/b" })).call("activate")).failed).to.match(
      /\/projects\/a%2Fb\/hooks responded with status 404: 404 Project Not Found$/,
    );
  });
});

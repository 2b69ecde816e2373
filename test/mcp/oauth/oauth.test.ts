import { expect } from "chai";
import { addMember } from "../../../src/accounts/organizations.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { OAuthRecords } from "../../../src/models/oauth-record.ts";
import { ApiKeys, Users } from "../../../src/models/user.ts";
import { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { callTool, exchange, modern } from "../mcp.ts";
import { connect, Host, Person, REDIRECT, type Tokens } from "./host.ts";

type User = Awaited<ReturnType<System["user"]>>;

describe("the sign-in of agents' hosts by OAuth", () => {
  let system: System;
  let api: User;
  let person: Person;
  before(async () => {
    system = await startSystem(
      { RATE_LIMITS: "api:0", MCP: "write", TRUST_PROXY: "true" },
      { workers: false },
    );
    api = await system.user();
    person = await Person.signedIn(api);
  });
  after(() => system.stop());

  const holder = (token: string) => new Api(api.baseUrl, token);
  const statusWith = async (token: string) => (await exchange(holder(token), modern("tools/list"))).status;
  const registered = async (more: object = {}) => {
    const host = new Host(api);
    const { status, body } = await host.register(more);
    expect(status, JSON.stringify(body)).to.equal(201);
    return host;
  };
  const records = () => OAuthRecords(system.worker.mongo);

  it("is found from the address alone", async () => {
    const { status, headers } = await exchange(holder(""), modern("tools/list"));
    expect(status).to.equal(401);
    const { origin } = new Host(api);
    const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(String(headers["www-authenticate"])) ?? [];
    expect(metadata).to.equal(`${origin}/.well-known/oauth-protected-resource/mcp`);
    const host = new Host(api);
    for (const path of [new URL(metadata).pathname, "/.well-known/oauth-protected-resource"]) {
      const { body } = await host.send(path);
      expect(body).to.deep.include({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    }
    const { body } = await host.send("/.well-known/oauth-authorization-server");
    expect(body).to.deep.include({
      issuer: origin,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      client_id_metadata_document_supported: true,
    });
    // An API key that is wrong is told the same; one that is right needs none of it.
    expect(await statusWith(api.apiKey)).to.equal(200);
    expect((await holder("x").request("GET", "/users/me")).headers.get("www-authenticate")).not.to.include(
      "resource_metadata",
    );
  });

  it("lets a host in that the user agrees to, until it gives its tokens back", async () => {
    const host = await registered();
    const request = await person.begin(host.authorizeUrl());
    const { body: asked } = await person.ask(request);
    expect(asked.data).to.include({ client_name: "Test host", redirect_to: "127.0.0.1:9" });
    const decided = await person.decide(request, { allow: true });
    const returned = await person.goOn(decided.body.data.url);
    expect(returned.href.startsWith(REDIRECT)).to.equal(true);
    expect(returned.searchParams.get("state")).to.equal("a state");
    expect(returned.searchParams.get("iss")).to.equal(host.origin);
    const { body, headers } = await host.exchange(returned.searchParams.get("code") ?? "");
    const tokens: Tokens = body;
    expect(headers.get("cache-control")).to.include("no-store");
    expect(tokens).to.include({
      token_type: "Bearer",
      scope: "mcp",
      expires_in: LIMITS.oauthAccessTokenMs.value / 1000,
    });

    const { structuredContent } = await callTool(holder(tokens.access_token), "get_account");
    expect(structuredContent.data.id).to.equal(api.userId);
    // For that address only.
    expect((await holder(tokens.access_token).request("GET", "/users/me")).status).to.equal(401);
    expect((await host.send(`/mcp/c/${tokens.access_token}`, { method: "POST" })).status).to.equal(404);

    const key = await until(async () => {
      const [row] = await api.expect(200, "GET", "/api_keys");
      return row.last_used_at !== null && row;
    });
    expect(key).to.include({ kind: "oauth", name: "Test host (127.0.0.1:9)", access: "read", prefix: null });
    const { body: audit } = await api.request("GET", "/users/me/audit_log");
    expect(audit.data[0]).to.deep.include({ action: "api_key.created" });
    expect(audit.data[0].thing.id).to.equal(key.id);

    const { body: refreshed } = await host.refresh(tokens.refresh_token);
    expect(await statusWith(refreshed.access_token)).to.equal(200);
    expect(refreshed.refresh_token).not.to.equal(tokens.refresh_token);
    expect((await host.revoke(refreshed.refresh_token)).status).to.equal(200);
    expect(await statusWith(refreshed.access_token)).to.equal(401);
    expect(await statusWith(tokens.access_token)).to.equal(401);
    expect((await host.refresh(refreshed.refresh_token)).body.error).to.equal("invalid_grant");
    const [revoked] = await api.expect(200, "GET", "/api_keys");
    expect(revoked.revoked_at).not.to.equal(null);
  });

  it("sends the browser back without a code if the user does not agree", async () => {
    const host = await registered();
    const request = await person.begin(host.authorizeUrl());
    const { body } = await person.decide(request, { allow: false, access: "full" });
    const returned = await person.goOn(body.data.url);
    expect(returned.searchParams.get("error")).to.equal("access_denied");
    expect((await person.decide(request, { allow: true })).status, "once").to.equal(404);
  });

  it("reads unless the user chooses more, and does no more than the user may", async () => {
    const writes = async (tokens: Tokens, path = "/mcp?write=1") => {
      const { json } = await exchange(holder(tokens.access_token), { ...modern("tools/list"), path });
      return json.result.tools.some(({ name }: { name: string }) => name === "publish_workflow_event");
    };
    const reading = await connect(api);
    expect(await writes(reading.tokens)).to.equal(false);
    const full = await connect(api, "full");
    expect(await writes(full.tokens)).to.equal(true);
    expect(await writes(full.tokens, "/mcp")).to.equal(false);

    const org = await system.organization(api.userId);
    const workflow = await api.expect(201, "POST", "/workflows", {
      query: { org_id: org },
      body: { name: "Flow" },
    });
    const viewer = await system.user();
    await addMember(system.worker, org, viewer.userId, "viewer");
    const { tokens } = await connect(viewer, "full");
    const publish = (token: string) =>
      callTool(
        holder(token),
        "publish_workflow_event",
        { workflow: workflow.id, event: 1 },
        `/mcp?org_id=${org}&write=1`,
      );
    const rejected = await publish(tokens.access_token);
    expect([rejected.isError, JSON.stringify(rejected)]).to.satisfy(
      ([isError, text]: [boolean, string]) => isError && /role member/.test(text),
    );
    expect((await publish(full.tokens.access_token)).isError).not.to.equal(true);
  });

  it("ends with what it rests on, at the next request", async () => {
    const ended = async ({ host, tokens }: Awaited<ReturnType<typeof connect>>, what: string) => {
      expect(await statusWith(tokens.access_token), what).to.equal(401);
      const { body } = await host.refresh(tokens.refresh_token);
      expect(body.error, what).to.equal("invalid_grant");
    };
    const byUser = await connect(api);
    expect(await statusWith(byUser.tokens.access_token)).to.equal(200);
    const [key] = await api.expect(200, "GET", "/api_keys");
    await api.expect(204, "DELETE", `/api_keys/${key.id}`);
    await ended(byUser, "revoked by its user");

    const expiring = await connect(api);
    const [row] = await api.expect(200, "GET", "/api_keys");
    expect(row.expires_at * 1000 - Date.now()).to.be.closeTo(LIMITS.oauthGrantMs.value, 60_000);
    await ApiKeys(system.worker.mongo).updateOne({ _id: row.id }, { expires_at: 1_700_000_000 });
    await system.worker.routing.invalidate([api.userId]);
    await ended(expiring, "expired");

    const short = await connect(api);
    const old = { expires_at: new Date(Date.now() - 1) };
    const lifeOf = async (kind: string) => {
      const [row] = await records()
        .find({ _id: new RegExp(`^${kind}:`), user_id: api.userId })
        .sort({ expires_at: -1 })
        .lean();
      return (row?.expires_at.getTime() ?? 0) - Date.now();
    };
    expect(await lifeOf("AccessToken")).to.be.closeTo(LIMITS.oauthAccessTokenMs.value, 60_000);
    expect(await lifeOf("RefreshToken")).to.be.closeTo(LIMITS.oauthRefreshTokenMs.value, 60_000);
    await records().updateMany({ _id: /^AccessToken:/, user_id: api.userId }, old);
    await system.worker.routing.invalidate([api.userId]);
    expect(await statusWith(short.tokens.access_token), "an access token after its time").to.equal(401);
    const again = await short.host.refresh(short.tokens.refresh_token);
    expect(await statusWith(again.body.access_token)).to.equal(200);
    await records().updateMany({ _id: /^RefreshToken:/, user_id: api.userId }, old);
    expect((await short.host.refresh(again.body.refresh_token)).body.error).to.equal("invalid_grant");

    const leaving = await system.user();
    const left = await connect(leaving);
    await Promise.all([
      Users(system.worker.mongo).deleteOne({ _id: leaving.userId }),
      ApiKeys(system.worker.mongo).deleteMany({ user_id: leaving.userId }),
    ]);
    await system.worker.routing.invalidate([leaving.userId]);
    await ended(left, "deleted user");
  });

  it("loses an organization with the membership", async () => {
    const owner = await system.user();
    const org = await system.organization(owner.userId);
    const member = await system.user();
    await addMember(system.worker, org, member.userId);
    const { tokens } = await connect(member);
    const there = async () =>
      (await exchange(holder(tokens.access_token), { ...modern("tools/list"), path: `/mcp?org_id=${org}` }))
        .status;
    expect(await there()).to.equal(200);
    await owner.expect(204, "DELETE", `/orgs/${org}/members/${member.userId}`);
    expect(await there()).to.equal(404);
    expect(await statusWith(tokens.access_token)).to.equal(200);
  });

  describe("rejects", () => {
    const noRedirect = async (url: URL) => {
      const response = await person.visitor.request(url);
      expect(response.headers.get("location"), url.href).to.equal(null);
      expect(response.status).to.equal(400);
      expect(response.headers.get("content-security-policy")).to.include("default-src 'none'");
      return await response.text();
    };
    const errorOf = async (url: URL) => {
      const returned = await person.goOn(url.href);
      expect(returned.origin).to.equal(new URL(REDIRECT).origin);
      // Of a response that hosts do not ask for here, the error is in the fragment.
      return new URLSearchParams(returned.search || returned.hash.slice(1)).get("error");
    };

    it("a redirect that is not registered, and an unknown client, without leaving the server", async () => {
      const host = await registered();
      await noRedirect(host.authorizeUrl({ redirect_uri: "https://evil.example/callback" }));
      await noRedirect(host.authorizeUrl({ redirect_uri: `${REDIRECT}/x` }));
      const text = await noRedirect(host.authorizeUrl({ client_id: "<script>alert(1)</script>" }));
      expect(text).not.to.include("<script>");
    });

    it("a request without PKCE, with plain PKCE, for another response or another resource", async () => {
      const host = await registered();
      const changes: [Record<string, string | null>, string][] = [
        [{ code_challenge: null, code_challenge_method: null }, "invalid_request"],
        [{ code_challenge_method: "plain" }, "invalid_request"],
        [{ response_type: "token" }, "unsupported_response_type"],
        [{ resource: "https://evil.example/mcp" }, "invalid_target"],
        [{ resource: `${host.origin}/v1` }, "invalid_target"],
      ];
      for (const [change, error] of changes) {
        expect(await errorOf(host.authorizeUrl(change)), JSON.stringify(change)).to.equal(error);
      }
    });

    it("a code with another verifier, redirect, client or resource, and one that was used", async () => {
      const host = await registered();
      const code = async () => (await person.letIn(host.authorizeUrl())).searchParams.get("code") ?? "";
      const other = await registered();
      const wrong: [string, () => Promise<{ status: number; body: { error: string } }>, string][] = [
        [
          "verifier",
          async () => host.exchange(await code(), { code_verifier: "x".repeat(43) }),
          "invalid_grant",
        ],
        [
          "redirect",
          async () => host.exchange(await code(), { redirect_uri: "https://evil.example/" }),
          "invalid_grant",
        ],
        ["client", async () => host.exchange(await code(), { client_id: other.clientId }), "invalid_grant"],
        [
          "resource",
          async () => host.exchange(await code(), { resource: "https://evil.example/" }),
          "invalid_target",
        ],
        ["code", async () => host.exchange("x".repeat(43)), "invalid_grant"],
      ];
      for (const [what, send, error] of wrong) {
        const { status, body } = await send();
        expect([status, body.error], what).to.deep.equal([400, error]);
      }
      const used = await code();
      const { body: tokens } = await host.exchange(used);
      expect(await statusWith(tokens.access_token)).to.equal(200);
      expect((await host.exchange(used)).body.error).to.equal("invalid_grant");
      // Somebody else had the code: what it led to ends, too.
      expect(await statusWith(tokens.access_token)).to.equal(401);
      expect((await host.refresh(tokens.refresh_token)).body.error).to.equal("invalid_grant");
    });

    it("a code that is used twice at once, once", async () => {
      const host = await registered();
      const code = (await person.letIn(host.authorizeUrl())).searchParams.get("code") ?? "";
      const statuses = (await Promise.all(Array.from({ length: 5 }, () => host.exchange(code)))).map(
        one => one.status,
      );
      expect(statuses.filter(status => status === 200).length).to.be.at.most(1);
    });

    it("a refresh token that was used, and ends all that came of it", async () => {
      const { host, tokens } = await connect(api);
      const { body: next } = await host.refresh(tokens.refresh_token);
      expect(await statusWith(next.access_token)).to.equal(200);
      expect((await host.refresh(tokens.refresh_token)).body.error).to.equal("invalid_grant");
      expect(await statusWith(next.access_token)).to.equal(401);
      expect((await host.refresh(next.refresh_token)).body.error).to.equal("invalid_grant");
    });

    it("tokens of another client", async () => {
      const { tokens } = await connect(api);
      const other = await registered();
      expect((await other.refresh(tokens.refresh_token)).body.error).to.equal("invalid_grant");
      await other.revoke(tokens.access_token);
      expect(await statusWith(tokens.access_token)).to.equal(200);
    });

    it("a consent that another browser gave, however it was led there", async () => {
      const host = await registered();
      const attacker = await Person.signedIn(await system.user());
      const request = await attacker.begin(host.authorizeUrl());
      const { body } = await person.decide(request, { allow: true, access: "full" });
      // The person's browser has not the cookie of the one that began, and that one not the proof of the consent.
      expect((await person.visitor.request(body.data.url)).headers.get("location")).to.equal(null);
      const stolen = new URL(body.data.url);
      stolen.searchParams.delete("proof");
      const returned = await attacker.goOn(stolen.href);
      expect(returned.searchParams.get("code")).to.equal(null);
      expect(returned.searchParams.get("error")).to.equal("access_denied");
    });

    it("a consent by another site's page, by a key that only reads, and without a sign-in", async () => {
      const host = await registered();
      const request = await person.begin(host.authorizeUrl());
      const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
      expect((await person.decide(request, { allow: true }, foreign)).status).to.equal(403);
      const reading = await api.expect(201, "POST", "/api_keys", { body: { access: "read" } });
      for (const [key, status] of [
        [reading.api_key, 403],
        ["", 401],
      ] as const) {
        const body = { request, allow: true };
        expect((await holder(key).request("POST", "/agent_consents", { body })).status).to.equal(status);
      }
      const page = await fetch(new URL(`/dashboard/connect?request=${request}`, host.origin));
      expect(page.headers.get("content-security-policy")).to.include("frame-ancestors 'none'");
    });

    it("a request after its time, and one that never was", async () => {
      const host = await registered();
      const request = await person.begin(host.authorizeUrl());
      const { body } = await person.ask(request);
      expect(body.data.expires_at * 1000 - Date.now()).to.be.closeTo(LIMITS.oauthRequestMs.value, 60_000);
      await records().updateMany({ _id: /^Interaction:/ }, { expires_at: new Date(Date.now() - 1) });
      for (const id of [request, "x".repeat(43)]) {
        expect((await person.ask(id)).status).to.equal(404);
        expect((await person.decide(id, { allow: true })).status).to.equal(404);
      }
    });
  });

  it("keeps no token, code or id of a request as it is", async () => {
    const { tokens } = await connect(api);
    const rows = JSON.stringify(await records().find().lean());
    for (const secret of [tokens.access_token, tokens.refresh_token]) {
      expect(secret).to.match(/^[\w-]{43}$/);
      expect(rows.includes(secret)).to.equal(false);
    }
  });
});

describe("the sign-in of agents' hosts by OAuth, of an installation", () => {
  it("is not there with MCP=off", async () => {
    const system = await startSystem({ MCP: "off" }, { workers: false });
    try {
      const api = await system.user();
      const host = new Host(api);
      const paths = [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/oauth/authorize",
      ];
      for (const path of paths) expect((await host.send(path)).status, path).to.equal(404);
      for (const path of ["/oauth/register", "/oauth/token", "/oauth/revoke"]) {
        expect((await host.send(path, { method: "POST" })).status, path).to.equal(404);
      }
      const query = { request: "x".repeat(43) };
      expect((await api.request("GET", "/agent_consents", { query })).status).to.equal(404);
      expect((await api.request("POST", "/connector_urls")).status).to.equal(404);
    } finally {
      await system.stop();
    }
  });
});

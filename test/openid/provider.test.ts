import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createEgress, type Egress } from "../../src/egress/agent.ts";
import { OpenIdError } from "../../src/openid/openid-error.ts";
import { OpenIdProvider } from "../../src/openid/provider.ts";

describe("the address at which a provider signs people out", () => {
  let server: Server;
  let egress: Egress;
  let issuer: string;
  let named: string | undefined;
  before(async () => {
    server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      const at = (path: string) => `${issuer}${path}`;
      response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: at("/auth"),
          token_endpoint: at("/token"),
          jwks_uri: at("/jwks"),
          end_session_endpoint: named,
        }),
      );
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = createEgress({ allow: ["127.0.0.1"], blockedHosts: [], connectTimeoutMs: 10_000 });
  });
  after(async () => {
    await egress?.close();
    server?.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  const RETURN = "https://headwater.example.com/dashboard/sign-in";
  /** Each has read the discovery document itself. */
  function signOutUrl(endSessionEndpoint?: string): Promise<string | null> {
    named = endSessionEndpoint;
    const settings = { issuer, clientId: "headwater", clientSecret: "s3cret", scopes: "openid email" };
    return new OpenIdProvider(settings, { egress, clock: Date.now }).signOutUrl(RETURN);
  }

  it("names this server, where it sends the browser back to, and a new state, and no token", async () => {
    for (const there of ["https://login.example.com/end?tenant=1", `${issuer}/end?tenant=1`]) {
      const urls = [new URL((await signOutUrl(there)) ?? ""), new URL((await signOutUrl(there)) ?? "")];
      for (const url of urls) {
        expect(url.href.split("&")[0]).to.equal(there);
        const { state, ...others } = Object.fromEntries(url.searchParams);
        expect(state).to.match(/^[\w-]{43}$/);
        expect(others).to.deep.equal({
          tenant: "1",
          client_id: "headwater",
          post_logout_redirect_uri: RETURN,
        });
      }
      expect(urls[0]?.href).not.to.equal(urls[1]?.href);
    }
    expect(await signOutUrl()).to.equal(null);
  });

  it("is no address but https, and http on this machine", async () => {
    for (const there of ["http://login.example.com/end", "javascript:alert(1)", "data:text/html,x", "end"]) {
      const error: unknown = await signOutUrl(there).catch((reason: unknown) => reason);
      expect(error, there).to.be.instanceOf(OpenIdError);
    }
  });
});

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError as ModernUnauthorized,
} from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "chai";
import { OAuthRecords } from "../../../src/models/oauth-record.ts";
import { type System, startSystem } from "../../support/system.ts";
import { Person, REDIRECT } from "./host.ts";

const INFO = { name: "headwater-tests", version: "1" };

/** What a host's program keeps of a sign-in; both SDKs ask for the same. */
class Kept {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    ...{ client_name: "SDK", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  // biome-ignore lint/suspicious/noExplicitAny: each SDK has a type of its own for the same
  client: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  kept: any;
  /** Where the program sends the user's browser. */
  address: URL | undefined;
  #verifier = "";
  #state = "a state of the SDK's user";

  state = () => this.#state;
  clientInformation = () => this.client;
  saveClientInformation(client: unknown) {
    this.client = client;
  }
  tokens = () => this.kept;
  saveTokens(tokens: unknown) {
    this.kept = tokens;
  }
  /** Asked for once the server rejects a refresh token. */
  invalidateCredentials() {
    this.kept = undefined;
  }
  redirectToAuthorization(url: URL) {
    this.address = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
}

/** Clients that were written elsewhere, as they come from the registry. */
describe("the sign-in of agents' hosts by OAuth, for clients of others,", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let url: URL;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
    api = await system.user();
    url = new URL("/mcp", api.baseUrl);
  });
  after(() => system.stop());

  /** Goes through discovery, registration, consent, refresh and revocation; `connect` opens a new client each time. */
  async function walk(
    kept: Kept,
    connect: (code?: URLSearchParams) => Promise<Pick<Client, "listTools" | "close"> | ModernClient | null>,
  ) {
    expect(await connect(), "not let in yet").to.equal(null);
    const person = await Person.signedIn(api);
    const returned = await person.letIn(kept.address ?? new URL("about:blank"));
    const client = await connect(returned.searchParams);
    const { tools } = (await client?.listTools()) ?? { tools: [] };
    expect(tools.length).to.be.greaterThan(30);
    await client?.close();

    // After its time, the client asks for another by itself.
    const before = kept.kept.refresh_token;
    await OAuthRecords(system.worker.mongo).deleteMany({ _id: /^AccessToken:/ });
    await system.worker.routing.invalidate([api.userId]);
    const again = await connect();
    expect((await again?.listTools())?.tools.length).to.equal(tools.length);
    expect(kept.kept.refresh_token).not.to.equal(before);
    await again?.close();

    kept.address = undefined;
    const [key] = await api.expect(200, "GET", "/api_keys");
    expect(key).to.include({ kind: "oauth", name: "SDK (127.0.0.1:9)" });
    await api.expect(204, "DELETE", `/api_keys/${key.id}`);
    expect(await connect(), "revoked").to.equal(null);
    expect(kept.address, "asks the user again").to.be.instanceOf(URL);
  }

  it("works with @modelcontextprotocol/sdk", async () => {
    const kept = new Kept();
    await walk(kept, async code => {
      const transport = new StreamableHTTPClientTransport(url, { authProvider: kept });
      if (code) await transport.finishAuth(code.get("code") ?? "");
      const client = new Client(INFO);
      try {
        await client.connect(transport as never);
        return client;
      } catch (error) {
        if (error instanceof UnauthorizedError) return null;
        throw error;
      }
    });
  });

  it("works with @modelcontextprotocol/client", async () => {
    const kept = new Kept();
    await walk(kept, async code => {
      const transport = new ModernTransport(url, { authProvider: kept as never });
      if (code) await transport.finishAuth(code);
      const client = new ModernClient(INFO, { versionNegotiation: { mode: "auto" } } as never);
      try {
        await client.connect(transport);
        return client;
      } catch (error) {
        if (error instanceof ModernUnauthorized) return null;
        throw error;
      }
    });
  });
});

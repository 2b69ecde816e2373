import type { Provider } from "oidc-provider";
import { Type } from "typebox";
import { resourceOf } from "../../accounts/access-tokens.ts";
import { createOwnKey } from "../../accounts/own-keys.ts";
import { data, routeFor } from "../../http/route.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { shownName, shownTarget } from "./client-metadata.ts";
import { offersOAuth, SCOPE } from "./paths.ts";
import { type Consent, hashOfProof, providerOf } from "./provider.ts";
import { keepClient } from "./records.ts";

const route = routeFor<Stores & Outbound>();
const tag = "API keys";

const Request = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The request that the page was opened for, from its address.",
});

const ConsentView = Type.Object(
  {
    client_name: Type.String({ description: "What the agent's host calls itself; nothing proves it." }),
    redirect_to: Type.String({
      description:
        "Where the browser goes with the code: a host, or the scheme of a program on the user's machine.",
    }),
    expires_at: Type.Integer({ description: "Unix seconds: until when it can be agreed to." }),
  },
  { title: "AgentConsent" },
);

type Interaction = InstanceType<Provider["Interaction"]>;

/** Returns a request that waits for a consent. Throws `not-found` for one that is unknown, has expired or was decided. */
async function waiting(platform: Stores & Outbound, id: string) {
  const absent = () => notFound("request of an agent's host");
  if (!offersOAuth(platform)) throw absent();
  const provider = providerOf(platform);
  const interaction: Interaction | undefined = await provider.Interaction.find(id);
  if (!interaction || interaction.result) throw absent();
  const {
    client_id: clientId,
    redirect_uri: redirectUri,
    resource,
  } = interaction.params as Record<string, string>;
  const client = await provider.Client.find(clientId ?? "");
  if (!client || redirectUri === undefined) throw absent();
  return {
    provider,
    interaction,
    clientId: client.clientId,
    name: shownName(client.clientName),
    target: shownTarget(redirectUri),
    resource: resource ?? resourceOf(platform),
  };
}

/** Ends the wait with this result and returns where the browser goes on. */
async function decide(interaction: Interaction, result: object): Promise<URL> {
  interaction.result = result as never;
  await interaction.persist();
  return new URL(interaction.returnTo);
}

/** What the dashboard's page asks that lets an agent's host in (docs/agents.md#sign-in-with-oauth). */
export const agentConsentRoutes = [
  route({
    method: "GET",
    path: "/agent_consents",
    id: "getAgentConsent",
    tag,
    summary: "Show an agent's host that asks to be let in",
    description:
      "For the page to which the authorization server sends the browser. 404 once it was decided or has expired.",
    access: { kind: "caller" },
    query: Type.Object({ request: Request }),
    response: data(200, ConsentView),
    example: {
      query: { request: "q5lVYAWtNNYz9xGvKzLCcXBRQlcvDc_0JmHYlYlLkrz" },
      response: { client_name: "ChatGPT", redirect_to: "chatgpt.com", expires_at: 1_700_000_600 },
    },
    handler: async ({ deps, query }) => {
      const { interaction, name, target } = await waiting(deps, query.request);
      return { client_name: name, redirect_to: target, expires_at: interaction.exp };
    },
  }),
  route({
    method: "POST",
    path: "/agent_consents",
    id: "decideAgentConsent",
    audit: "api_key.created",
    tag,
    summary: "Let an agent's host in, or not",
    description:
      "Makes an API key of the kind `oauth`, which the host's tokens rest on: they may do what it may, and end when it is revoked. Returns where the " +
      "browser goes on; it must be the one in which the host's request began.",
    access: { kind: "caller" },
    body: Type.Object({
      request: Request,
      allow: Type.Boolean(),
      access: Type.Optional(
        Type.Unsafe<"read" | "full">({
          type: "string",
          enum: ["read", "full"],
          description: "As that of an API key; `read` by default.",
        }),
      ),
    }),
    response: data(200, Type.Object({ url: Type.String({ description: "An address of this server." }) })),
    errors: ["limit-reached"],
    example: {
      body: { request: "q5lVYAWtNNYz9xGvKzLCcXBRQlcvDc_0JmHYlYlLkrz", allow: true, access: "read" },
      response: {
        url: "https://headwater.example.com/oauth/authorize/q5lVYAWtNNYz9xGvKzLCcXBRQlcvDc_0JmHYlYlLkrz",
      },
    },
    handler: async ({ deps, caller, body, owners, changes }) => {
      const { provider, interaction, clientId, name, target, resource } = await waiting(deps, body.request);
      if (!body.allow) {
        changes(null);
        return { url: (await decide(interaction, { error: "access_denied" })).href };
      }
      if (typeof resource !== "string") throw new AppError("invalid", "the host asks for several resources");
      const { key } = await createOwnKey(
        deps,
        caller,
        {
          kind: "oauth",
          name: `${name} (${target})`.slice(0, 128),
          access: body.access ?? "read",
          endsBy: unixSeconds(deps.clock() + LIMITS.oauthGrantMs.value),
        },
        owners,
      );
      changes({ id: key._id, name: key.name ?? null });
      const grant = new provider.Grant({ accountId: caller.userId, clientId, jti: key._id } as never);
      grant.addResourceScope(resource, SCOPE);
      await grant.save();
      await keepClient(deps, clientId);
      const proof = newToken();
      const consent: Consent = { grantId: key._id, proofHash: hashOfProof(proof) };
      const url = await decide(interaction, {
        login: { accountId: caller.userId, remember: false },
        consent,
      });
      url.searchParams.set("proof", proof);
      return { url: url.href };
    },
  }),
];

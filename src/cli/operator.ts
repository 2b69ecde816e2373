import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { JsonText } from "../lib/json-text.ts";
import { ROLES, type Role } from "../lib/roles.ts";
import type { Component } from "../models/component.ts";
import type { TokenAuth } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import {
  askSecret,
  type Confirmed,
  confirmDeletion,
  type EventRuleOptions,
  eventRuleOptions,
  eventRulesOf,
  parseJsonOption,
  readObjectFile,
  verifyOption,
  yesOption,
} from "./input.ts";
import type { Run } from "./run.ts";

export function userCommands(program: Command, run: Run): void {
  const user = program.command("user").description("manage user accounts");
  user
    .command("create")
    .description("create a user with an API key; prints {id, api_key}, which can't be shown again")
    .requiredOption("--email <email>", "email address")
    .option("--username <name>", "unique name (default: derived from the email address)")
    .addOption(new Option("--plan <plan>", "account plan").choices(["free", "paid"]).default("free"))
    .action((options: { email: string; username?: string; plan: "free" | "paid" }) =>
      run(async platform => {
        const { createUser } = await import("../accounts/users.ts");
        return createUser(platform, options);
      }),
    );
  user
    .command("operator")
    .description(
      "let a user make users and organizations for others and open private addresses to connections by the API, and nothing else",
    )
    .argument("<user id>", "u_…")
    .option("--off", "end it")
    .action((userId: string, options: { off?: boolean }) =>
      run(async platform => {
        const { setOperator } = await import("../accounts/operators.ts");
        return setOperator(platform, userId, options.off !== true);
      }),
    );
  user
    .command("sign-out")
    .description(
      "end every session of a user, and the API keys made in a provider's; others stay valid; prints the counts",
    )
    .argument("<user id>", "u_…")
    .action((userId: string) =>
      run(async platform => {
        const { endAllSessions } = await import("../accounts/sessions/sessions.ts");
        return endAllSessions(platform, userId);
      }),
    );
}

const organizations = () => import("../accounts/organizations.ts");

export function organizationCommands(program: Command, run: Run): void {
  const org = program.command("org").description("manage organizations");
  org
    .command("create")
    .description("create an organization; prints {id}")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--owner <user id>", "u_…, its first member")
    .action((options: { name: string; owner: string }) =>
      run(async platform => {
        const { createOrganization } = await organizations();
        const { id } = await createOrganization(platform, { name: options.name, ownerId: options.owner });
        return { id };
      }),
    );
  org
    .command("add-member")
    .description("add a user to an organization")
    .argument("<org id>", "o_…")
    .argument("<user id>", "u_…")
    .addOption(new Option("--role <role>", "what the member may do").choices(ROLES).default("member"))
    .action((orgId: string, userId: string, options: { role: Role }) =>
      run(async platform => (await organizations()).addMember(platform, orgId, userId, options.role)),
    );
  org
    .command("set-role")
    .description("give a member another role, such as an owner to an organization that has none")
    .argument("<org id>", "o_…")
    .argument("<user id>", "u_…")
    .addArgument(new Argument("<role>", "what the member may do").choices(ROLES))
    .action((orgId: string, userId: string, role: Role) =>
      run(async platform => {
        const { setRole } = await import("../accounts/roles.ts");
        return setRole(platform, { orgId, userId, callerId: null, role });
      }),
    );
}

interface Options extends EventRuleOptions {
  name?: string;
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  public?: boolean;
  tokenAuth?: TokenAuth;
  scopes?: string;
  param?: Record<string, string>;
  issuer?: string;
  verify?: string;
}

const VERIFY = "a preset or a rule, and secrets";

/** Commands with which operators register apps, so that accounts can connect theirs (docs/connections.md). */
export function appCommands(program: Command, run: Run): void {
  const app = program.command("app").description("manage the apps that accounts can connect (OAuth 2)");
  const set = app
    .command("set")
    .description("register an app, or replace it; its client secret is read from the standard input")
    .argument("<slug>", "as components name the app: github")
    .requiredOption("--authorize-url <url>", "where people agree")
    .requiredOption("--token-url <url>", "where tokens are granted and renewed")
    .requiredOption("--client-id <id>", "of the client that you registered with the app")
    .option("--name <name>", "as people know it (default: the slug)")
    .option("--scopes <scopes>", "what connections ask for, separated by blanks")
    .option("--param <name=value>", "further parameter of the authorize URL; may be repeated", parseParam)
    .option("--issuer <issuer>", "the iss with which its server returns, to be compared")
    .option("--public", "the client has no secret")
    .addOption(
      new Option("--token-auth <how>", "how the client proves its secret")
        .choices(["basic", "post"] satisfies TokenAuth[])
        .default("basic"),
    );
  verifyOption(eventRuleOptions(set)).action(async (slug: string, given: Options) => {
    const { public: isPublic, param, tokenAuth, verify: file, ...options } = given;
    const verify = file === undefined ? undefined : await readObjectFile(file, VERIFY);
    const clientSecret = isPublic
      ? undefined
      : await askSecret("client secret, not shown: ", "client secret");
    return run(async platform => {
      const { setApp } = await import("../connections/apps/apps.ts");
      const how = isPublic ? "none" : (tokenAuth ?? "basic");
      return setApp(platform, {
        ...{ slug, ...options, authorizeParams: param, clientSecret, tokenAuth: how },
        ...{ events: eventRulesOf(given), verify },
      });
    });
  });
  app
    .command("list")
    .description("list the registered apps")
    .action(() => run(async platform => (await import("../connections/apps/apps.ts")).listApps(platform)));
  yesOption(
    app
      .command("delete")
      .description("delete an app; prints how many connections are no longer renewed")
      .argument("<slug>"),
  ).action(async (slug: string, options: Confirmed) => {
    await confirmDeletion(`app ${slug}`, options);
    await run(async platform => (await import("../connections/apps/apps.ts")).deleteApp(platform, slug));
  });
}

function parseParam(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("must be name=value");
  return { ...earlier, [name]: value };
}

export function emitCommand(program: Command, run: Run): void {
  program
    .command("emit")
    .description("emit an event as a workflow or source; prints {emit_id}")
    .argument("<emitter id>", "p_… or dc_…")
    .requiredOption("--event <json>", "the event, any JSON value", parseJsonOption)
    .option("--name <channel>", "channel (default: the default channel)")
    .option("--id <id>", "identity of the event: repeating it does not emit the event again")
    .action((emitterId: string, options: { event: JsonText; name?: string; id?: string }) =>
      run(async platform => {
        const { emit } = await import("./emit-event.ts");
        return emit(platform, {
          emitter_id: emitterId,
          emit_id: options.id,
          event: options.event,
          ...(options.name !== undefined && { name: options.name }),
        });
      }),
    );
}

/** Owner of components that an operator publishes from files. It is not an account, so no user can delete them. */
const REGISTRY = "registry";

async function saveFile(platform: Platform, path: string): Promise<string> {
  const [{ fromFile }, { saveModules }] = await Promise.all([
    import("../components/load-modules.ts"),
    import("../components/save.ts"),
  ]);
  const saver = { ownerId: REGISTRY, userId: REGISTRY };
  return (await saveModules(platform, saver, fromFile(path), null))._id;
}

const OPERATORS = "For operators, who have the settings of the stores:";

/** Adds to the commands of components those that need the settings of the stores. */
export function publishComponentCommands(component: Command, run: Run): void {
  component
    .command("publish")
    .helpGroup(OPERATORS)
    .description(
      "publish a component for every account: a local file with its relative imports, or a saved one by id",
    )
    .argument("<file or id>", "path, or sc_…")
    .action((fileOrId: string) =>
      run(async platform => {
        const { publishComponent } = await import("../components/components.ts");
        const id = /^sc_[A-Za-z0-9]{16}$/.test(fileOrId) ? fileOrId : await saveFile(platform, fileOrId);
        return shown(await publishComponent(platform, id));
      }),
    );
  component
    .command("unpublish")
    .helpGroup(OPERATORS)
    .description("take a published component back to its owner; what is deployed with it goes on")
    .argument("<id>", "sc_…")
    .action((id: string) =>
      run(async platform => {
        const { unpublishComponent } = await import("../components/components.ts");
        return shown(await unpublishComponent(platform, id));
      }),
    );
}

const shown = ({ _id: id, key, name, version }: Component) => ({ id, key, name, version });

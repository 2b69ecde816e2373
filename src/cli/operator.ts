import { Argument, type Command, Option } from "commander";
import type { JsonText } from "../lib/json-text.ts";
import { ROLES, type Role } from "../lib/roles.ts";
import type { Component } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { parseJsonOption } from "./input.ts";
import { recordOfOperator } from "./operator-log.ts";
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
        const created = await createUser(platform, options);
        const thing = { id: created.id, name: options.username ?? null };
        await recordOfOperator(platform, { action: "user.created", thing, of: [created.id] });
        return created;
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
        const set = await setOperator(platform, userId, options.off !== true);
        const action = set.operator ? "user.operator_granted" : "user.operator_ended";
        await recordOfOperator(platform, { action, thing: { id: userId, name: null }, of: [userId] });
        return set;
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
        const { name, owner } = options;
        const { id } = await createOrganization(platform, { name, ownerId: owner });
        await recordOfOperator(platform, {
          ...{ action: "organization.created", thing: { id, name }, of: [owner, id] },
        });
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
      run(async platform => {
        const { addMember } = await organizations();
        const { isNew, ...member } = await addMember(platform, orgId, userId, options.role);
        if (isNew) await recordOfMember(platform, "member.joined", member);
        return member;
      }),
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
        const set = await setRole(platform, { orgId, userId, callerId: null, role });
        await recordOfMember(platform, "member.updated", set);
        return set;
      }),
    );
}

/** Who belongs to an organization, and what they may do there, is for the organization to know. */
const recordOfMember = (
  platform: Platform,
  action: string,
  { id, user_id }: { id: string; user_id: string },
) => recordOfOperator(platform, { action, thing: { id: user_id, name: null }, of: [id] });

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
        const component = await publishComponent(platform, id);
        await recordOfComponent(platform, "component.published", component);
        return shown(component);
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
        const component = await unpublishComponent(platform, id);
        await recordOfComponent(platform, "component.unpublished", component);
        return shown(component);
      }),
    );
}

/** One from a file, or of the gallery, belongs to the installation and not to an account. */
const recordOfComponent = (platform: Platform, action: string, { _id: id, name, owner_id }: Component) =>
  recordOfOperator(platform, { action, thing: { id, name }, of: /^[uo]_/.test(owner_id) ? [owner_id] : [] });

const shown = ({ _id: id, key, name, version }: Component) => ({ id, key, name, version });

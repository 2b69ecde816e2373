import { Argument, type Command, Option } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { ROLES, type Role } from "../../lib/roles.ts";
import { type Confirmed, confirmDeletion, UsageError, yesOption } from "../input.ts";
import { note, plain, print, show, timeOf } from "../output.ts";
import { type Remote, type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption, listCommand, printRows } from "./list.ts";

type Member = Schemas["Member"];

const MEMBER_HELP = `
Roles: a viewer reads, a member also changes and runs what the organization owns, an owner also decides who its members are.

  headwater member list --org o_…
  headwater member invite ada@example.com --role viewer --org o_…
  headwater member set-role u_… owner --org o_…`;

/** Commands about the members of the organization of `--org`, or of the profile (docs/rest-api.md#roles). */
export function memberCommands(program: Command, tools: RemoteTools): void {
  const member = program
    .command("member")
    .description("see who is in an organization, and decide it")
    .addHelpText("after", MEMBER_HELP);
  const list = jsonOption(member.command("list").description("list the members with their roles"));
  remoteAction<JsonOption>(list, tools, async ({ client, access, options }) => {
    const rows = await client.organizations.members(orgOf(access));
    printRows({ rows, hasMore: false }, { ...options, ids: true, limit: rows.length }, COLUMNS);
  });
  const invite = member
    .command("invite")
    .description("invite a user by the email address; no mail is sent")
    .argument("<email>", "of the user, who finds it with headwater invitation list")
    .addOption(new Option("--role <role>", "what the user becomes").choices(ROLES).default("member"));
  remoteAction<JsonOption & { role: Role }>(jsonOption(invite), tools, async (remote, email = "") => {
    const { client, access, options } = remote;
    const { role } = options;
    show(
      await client.organizations.invite(orgOf(access), { email, role }),
      options,
      invited =>
        `${plain(invited.email)} is invited as ${invited.role}, until ${timeOf(invited.expires_at * 1000)}.`,
    );
  });
  const setRole = member
    .command("set-role")
    .description("give a member another role")
    .argument("<user>", "u_…, or the username or email address")
    .addArgument(new Argument("<role>", "what the member may do").choices(ROLES));
  remoteAction(setRole, tools, async (remote, given = "", role = "") => {
    const { id } = await findMember(remote, given);
    const body = { role: role as Role };
    const changed = await remote.client.organizations.updateMember(orgOf(remote.access), id, body);
    print(`${plain(changed.username)} is ${changed.role}.`);
  });
  const remove = yesOption(
    member
      .command("remove")
      .description("remove a member, or leave the organization")
      .argument("<user>", "u_…, or the username or email address"),
  );
  remoteAction<Confirmed>(remove, tools, async (remote, given = "") => {
    const { id, username } = await findMember(remote, given);
    await confirmDeletion(`member ${plain(username)} (${id})`, remote.options);
    await remote.client.organizations.removeMember(orgOf(remote.access), id);
    print(`${plain(username)} (${id}) is no longer a member.`);
  });
}

const COLUMNS = {
  name: ({ username }: Member) => username,
  id: ({ id }: Member) => id,
  email: ({ email }: Member) => email,
  role: ({ role }: Member) => role,
  since: ({ created_at }: Member) => timeOf(created_at * 1000),
};

function orgOf({ orgId }: Remote<unknown>["access"]): string {
  if (orgId !== undefined) return orgId;
  throw new UsageError("org: --org o_… says whose members; headwater whoami lists your organizations");
}

async function findMember({ client, access }: Remote<unknown>, given: string): Promise<Member> {
  const members = await client.organizations.members(orgOf(access));
  const found = members.find(one => [one.id, one.username, one.email].includes(given));
  if (found) return found;
  throw new UsageError(`user: ${given} is not a member; headwater member list shows them`);
}

/** Commands about the invitations to the user of the API key. */
export function invitationCommands(program: Command, tools: RemoteTools): void {
  const invitation = program
    .command("invitation")
    .description("see the invitations to you, accept and decline them");
  listCommand(invitation, tools, {
    description: "list the invitations to you",
    read: (client, page) => client.organizations.myInvitations(page),
    columns: {
      id: ({ id }) => id,
      organization: ({ org_name }) => org_name,
      role: ({ role }) => role,
      ends: ({ expires_at }) => timeOf(expires_at * 1000),
    },
  });
  const accept = invitation
    .command("accept")
    .description("become a member of the organization")
    .argument("<invitation>", "inv_…");
  remoteAction<JsonOption>(jsonOption(accept), tools, async ({ client, options }, id = "") => {
    const joined = await client.organizations.acceptInvitation(id);
    show(joined, options, ({ name, role }) => `You are ${role} of ${plain(name)}.`);
    if (!options.json) note(`--org ${joined.id} means its things.`);
  });
  const decline = invitation
    .command("decline")
    .description("delete an invitation; the organization may send another one")
    .argument("<invitation>", "inv_…");
  remoteAction(decline, tools, async ({ client }, id = "") => {
    await client.organizations.declineInvitation(id);
    print(`${plain(id)} is declined.`);
  });
}

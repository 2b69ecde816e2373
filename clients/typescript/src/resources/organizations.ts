import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import type { Invitation } from "../schema.ts";

/** Organizations, their members with their roles, and invitations to become one. */
export class Organizations {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Creates an organization, of which the caller is the first owner. */
  create(body: BodyOf<"/orgs", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/orgs", { body }, options);
  }

  /** Renames an organization. */
  update(orgId: string, body: BodyOf<"/orgs/{org_id}", "put">, options?: CallOptions) {
    return this.#connection.send("put", "/orgs/{org_id}", { params: { org_id: orgId }, body }, options);
  }

  /** Fetches the members, each with its role. */
  async members(orgId: string, options?: CallOptions) {
    const params = { org_id: orgId };
    return (await this.#connection.send("get", "/orgs/{org_id}/members", { params }, options)).members;
  }

  /** Gives a member another role. */
  updateMember(
    orgId: string,
    userId: string,
    body: BodyOf<"/orgs/{org_id}/members/{user_id}", "put">,
    options?: CallOptions,
  ) {
    const input = { params: { org_id: orgId, user_id: userId }, body };
    return this.#connection.send("put", "/orgs/{org_id}/members/{user_id}", input, options);
  }

  /** Removes a member; the caller leaves. */
  removeMember(orgId: string, userId: string, options?: CallOptions) {
    const params = { org_id: orgId, user_id: userId };
    return this.#connection.send("delete", "/orgs/{org_id}/members/{user_id}", { params }, options);
  }

  /** Invites the user of an email address. No mail is sent. */
  invite(orgId: string, body: BodyOf<"/orgs/{org_id}/invitations", "post">, options?: CallOptions) {
    const input = { params: { org_id: orgId }, body };
    return this.#connection.send("post", "/orgs/{org_id}/invitations", input, options);
  }

  /** Lists the invitations that were neither accepted nor declined. */
  invitations(
    orgId: string,
    query: QueryOf<"/orgs/{org_id}/invitations", "get"> = {},
    options?: CallOptions,
  ): List<Invitation> {
    const params = { org_id: orgId };
    return new List(query, cursor =>
      this.#connection.send(
        "get",
        "/orgs/{org_id}/invitations",
        { params, query: { ...query, ...cursor } },
        options,
      ),
    );
  }

  /** Takes an invitation back. */
  withdrawInvitation(orgId: string, id: string, options?: CallOptions) {
    const params = { org_id: orgId, id };
    return this.#connection.send("delete", "/orgs/{org_id}/invitations/{id}", { params }, options);
  }

  /** Lists the invitations to the caller. */
  myInvitations(
    query: QueryOf<"/users/me/invitations", "get"> = {},
    options?: CallOptions,
  ): List<Invitation> {
    return new List(query, cursor =>
      this.#connection.send("get", "/users/me/invitations", { query: { ...query, ...cursor } }, options),
    );
  }

  /** Accepts an invitation to the caller. */
  acceptInvitation(id: string, options?: CallOptions) {
    return this.#connection.send("post", "/users/me/invitations/{id}/accept", { params: { id } }, options);
  }

  /** Declines an invitation to the caller. */
  declineInvitation(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/users/me/invitations/{id}", { params: { id } }, options);
  }
}

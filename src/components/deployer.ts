import { accountsOf } from "../http/authorize.ts";
import type { Caller } from "../http/route.ts";

/** The caller of a request that deploys a component. */
export interface Deployer {
  /** Account that owns what is deployed. */
  owner: string;
  /** Accounts of the request; a `key` names their components first. */
  owners: string[];
  /** Every account that the user can read; a component of any of them may be used. */
  readable: string[];
  userId: string;
}

/** Returns who deploys a component by a request. */
export const deployerOf = (request: { owner: string; owners: string[]; caller: Caller }): Deployer => ({
  owner: request.owner,
  owners: request.owners,
  readable: accountsOf(request.caller),
  userId: request.caller.userId,
});

/** Returns the caller who deploys what their account alone can read. */
export const ownDeployer = ({ ownerId, userId }: { ownerId: string; userId: string }): Deployer => ({
  owner: ownerId,
  owners: [ownerId],
  readable: [ownerId],
  userId,
});

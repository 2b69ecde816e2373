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

interface DeployRequest {
  owner: string;
  owners: string[];
  caller: { userId: string; orgIds: string[] };
}

/** Returns who deploys a component by a request. */
export const deployerOf = ({ owner, owners, caller: { userId, orgIds } }: DeployRequest): Deployer => ({
  owner,
  owners,
  readable: [userId, ...orgIds],
  userId,
});

/** Returns the caller who deploys what their account alone can read. */
export const ownDeployer = ({ ownerId, userId }: { ownerId: string; userId: string }): Deployer => ({
  owner: ownerId,
  owners: [ownerId],
  readable: [ownerId],
  userId,
});

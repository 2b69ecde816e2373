/** The caller of a request that deploys a component. */
export interface Deployer {
  /** Account that owns what is deployed. */
  owner: string;
  /**
   * Every account that the user can read, that of the request first: a key names its components, an id those of all
   * (docs/decisions/0048-whose-thing-a-name-means.md).
   */
  readable: string[];
  userId: string;
  /** The API key of the request; absent for a session. */
  keyId?: string;
}

interface DeployRequest {
  owner: string;
  caller: { userId: string; keyId: string; sessionId?: string; orgIds: string[] };
}

/** Returns who deploys a component by a request. */
export const deployerOf = ({ owner, caller }: DeployRequest): Deployer => ({
  owner,
  readable: [...new Set([owner, caller.userId, ...caller.orgIds])],
  userId: caller.userId,
  ...(caller.sessionId === undefined && { keyId: caller.keyId }),
});

/** Returns the caller who deploys what their account alone can read. */
export const ownDeployer = ({ ownerId, userId }: { ownerId: string; userId: string }): Deployer => ({
  owner: ownerId,
  readable: [ownerId],
  userId,
});

import { ApiError, type Headwater } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";

/** Returns the names of those secrets that the server has other values for. It shows none, so it is asked. */
export type DifferingSecrets = (id: string, secrets: Record<string, unknown>) => Promise<string[]>;

const TOO_MANY = 429;

/** Returns what compares secrets; without asking, all of them differ if `sendsAll` is true. */
export const differingSecrets =
  (client: Headwater, { sendsAll }: { sendsAll: boolean }): DifferingSecrets =>
  async (id, secrets) => {
    const names = Object.keys(secrets);
    if (sendsAll || names.length === 0) return names;
    try {
      const { differ } = await client.request("post", "/secrets/compare", { body: { id, secrets } });
      return differ;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === TOO_MANY)) throw error;
      const message = `${id}: ${error.detail}; --secrets sends them without comparing`;
      throw new AppError("rate-limited", message, { cause: error });
    }
  };

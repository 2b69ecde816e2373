import { ConfigError, readConfig } from "../../src/config.ts";

/** The settings that have no default. */
export const REQUIRED_SETTINGS = {
  MONGODB_URL: "mongodb://127.0.0.1:27017/headwater",
  REDIS_URL: "redis://127.0.0.1:6379",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
};

/** Returns what a start says with these settings beside the required ones; "" if it starts. */
export function settingsError(env: Record<string, string | undefined>): string {
  try {
    readConfig({ ...REQUIRED_SETTINGS, ...env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
  return "";
}

import type { recordOfOperator as record } from "../audit/record.ts";

/** Writes what a command has changed to the audit log of the installation, and of the accounts that it concerns. Never throws. */
export const recordOfOperator: typeof record = async (platform, action) =>
  await (await import("../audit/record.ts")).recordOfOperator(platform, action);

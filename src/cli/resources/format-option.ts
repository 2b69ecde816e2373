import { Option } from "commander";
import { BODY_FORMATS } from "../../lib/body-formats.ts";

/** The option that says how requests have an event. */
export const formatOption = (description: string): Option =>
  new Option("--format <format>", description).choices(BODY_FORMATS);

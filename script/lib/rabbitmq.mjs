import { existsSync } from "node:fs";
import { packagedProgram } from "./packaged-program.mjs";

/** Debian's wrapper on the PATH becomes another user; this is what it starts. */
const SCRIPT = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/**
 * The path of a RabbitMQ for tests, as `packagedProgram` finds it; `epmd`, which names Erlang's processes, comes with it.
 * Undefined if there is none.
 */
export async function rabbitMqProgram(options) {
  const onPath = await packagedProgram("rabbitmq-server", options);
  return onPath && existsSync(SCRIPT) ? SCRIPT : onPath;
}

import { join } from "node:path";
import { aptInstall, canInstall, whenNothingIsInstalled } from "./apt.mjs";
import { findProgram } from "./commands.mjs";

/**
 * The path of what only tests need: a program on the PATH under one of `names`, or what `find` finds; else, with `CI` set,
 * installed by apt-get as the package `name` if that is allowed. Undefined if there is none; throws a UserError if its
 * installation fails.
 */
export async function packagedProgram(name, { names = [name], find = () => onPath(names), root, signal }) {
  if (!process.env.CI || !canInstall()) return find();
  await whenNothingIsInstalled({ signal });
  const found = find();
  if (found) return found;
  const instead = `install ${name} yourself`;
  await aptInstall(name, { instead, logFile: join(root, `.cache/apt-${name}.log`), signal });
  return find();
}

const onPath = names => names.map(one => findProgram(one)).find(Boolean);

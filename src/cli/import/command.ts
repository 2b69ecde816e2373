import { join } from "node:path";
import type { Command } from "commander";
import { wordsOfPattern } from "../../lib/schemas.ts";
import { askSecret, UsageError } from "../input.ts";
import { fields, note, plain, show } from "../output.ts";
import { checkServerUrl } from "../remote/access.ts";
import { warnIfReadable } from "../remote/login.ts";
import { givenTo } from "../remote/remote-command.ts";

const HELP = `
Reads the sources with their components, the webhooks, the subscriptions and, of a Headwater, the destinations and actions of an
account, and changes nothing there. It writes headwater.yaml, which \`headwater apply\` reads, the code of the components, and
import-report.txt, which says what needs a hand: secrets, accounts of apps, addresses that change, and what the other server does
not show.

The API key of the other server is asked for, or read from the standard input, or from HEADWATER_IMPORT_KEY.

  headwater import https://old.example.com shop < key.txt
  headwater import https://api.pipedream.com/v1 shop --org o_…
  headwater apply -f shop/headwater.yaml --plan`;

interface Options {
  project: string;
  search?: string;
  force?: boolean;
  json?: boolean;
}

const KEY = "HEADWATER_IMPORT_KEY";

/** `headwater import`; `variables` returns what reads the environment. */
export function importCommand(
  program: Command,
  variables: () => Promise<(name: string) => string | undefined>,
): void {
  program
    .command("import")
    .description("write what an account of another server has as a file for headwater apply")
    .argument("<url>", "the other server: a Headwater, or any that speaks its REST API")
    .argument("[folder]", "where the files are written", ".")
    .option("--project <name>", "what the file calls the project", "imported")
    .option(
      "--search <text>",
      "only sources, webhooks and workflows with this text in their name, address or id",
    )
    .option("--org <id>", "o_…: the things of this organization of the other server")
    .option("--force", "replace files that are there already")
    .option("--json", "print {project, files, counts, hands} as JSON")
    .addHelpText("after", HELP)
    .action(async (url: string, folder: string, options: Options, self: Command) => {
      const address = checkServerUrl(url, "url");
      const orgId = givenTo(self, "org");
      const [{ checkAbsent }, { NAME }, { FILE, importAccount, REPORT }, { countsOf }] = await Promise.all([
        import("./staging.ts"),
        import("../apply/schema.ts"),
        import("./import.ts"),
        import("./report.ts"),
      ]);
      const { project, force = false, search } = options;
      if (!new RegExp(NAME).test(project)) throw new UsageError(`--project: ${wordsOfPattern(NAME)}`);
      if (!force) await checkAbsent(folder, [FILE, REPORT]);
      warnIfReadable(address);
      const question = `API key of ${address}, not shown: `;
      const apiKey = (await variables())(KEY) || (await askSecret(question, "API key"));
      const { declaration, files, hands } = await importAccount({
        ...{ url: address, apiKey, orgId, search },
        ...{ folder, project, force },
      });
      const counts = countsOf(declaration);
      show({ project, files, counts, hands }, options, () =>
        fields({ project, ...counts, "need a hand": hands.length, files: files.length }),
      );
      note(
        `Read ${plain(join(folder, REPORT))}, then: headwater apply -f ${plain(join(folder, FILE))} --plan`,
      );
    });
}

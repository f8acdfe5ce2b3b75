import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandCall } from '../../cli/command.ts';
import { referencesOf } from '../../deploy/compose-references.ts';
import { type ComposeReport, HostingRefusal } from '../../deploy/hosting-server.ts';
import { packSource } from '../../deploy/pack-source.ts';
import { openServer } from '../../deploy/target.ts';
import { environmentOf } from '../../secrets.ts';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';

/** `generator host compose FILE`: makes the apps of a project what a compose file says. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [verb, file] = call.positionals;
  const { project } = call.options;
  if (verb !== 'compose' || file === undefined || typeof project !== 'string')
    throw new CommandError('ARGUMENT_MISSING', {
      message: 'a compose file and the name of a project are needed',
      fix: 'generator host compose compose.yaml --to https://host.example.com --project shop',
    });
  const path = resolve(call.cwd, file);
  const folder = dirname(path);
  const compose = await readCompose(path, file);
  const here = environmentOf(folder);
  const { variables, envFiles, needsFiles } = referencesOf(compose);
  const known = variables.filter((name) => here[name] !== undefined);
  const env = Object.fromEntries(known.map((name) => [name, here[name] as string]));
  const packed = needsFiles ? await packSource(folder, envFiles) : null;
  for (const secret of packed?.secrets ?? [])
    call.terminal.note(`left out, as it holds a secret: ${secret}`);
  const server = await openServer(call, here);
  const report = await server
    .compose(
      project,
      { compose, env, archive: packed?.archive ?? null },
      {
        dryRun: call.options['dry-run'] === true,
        prune: call.options['prune'] === true,
      },
    )
    .catch(throwRefusal);
  show(call, project, report);
  return EXIT.done;
}

function readCompose(path: string, file: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new CommandError('FILE_UNREADABLE', {
      message: `${file} cannot be read: ${error.message}`,
    });
  });
}

function throwRefusal(error: unknown): never {
  if (!(error instanceof HostingRefusal)) throw error;
  const code = error.status >= 500 ? EXIT.differs : EXIT.usage;
  throw new CommandError('SERVER_REFUSED', {
    message: `the server refused (${error.status}): ${error.message}`,
    exit: code,
  });
}

function show({ terminal, options }: CommandCall, project: string, report: ComposeReport): void {
  const dry = options['dry-run'] === true;
  if (terminal.json) return terminal.document({ ok: true, project, dry_run: dry, ...report });
  for (const [word, names] of Object.entries(report))
    if (names.length > 0)
      terminal.note(`${terminal.paint.green(word.padEnd(9))}  ${names.join(', ')}`);
  if (dry) terminal.note('nothing was changed');
}

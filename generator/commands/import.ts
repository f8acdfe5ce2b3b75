import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import type { Imported } from '../import/imported.ts';
import { countItems } from '../import/report.ts';
import { planImport, type ImportPlan } from '../import/plan-import.ts';
import { run as runPipeline } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';
import { reportSecrets } from './plan-report.ts';

/** The result of an import, and its name in the report. */
interface ImportedSource {
  readonly imported: Imported;
  readonly source: string;
  /** The statements of the first migration. */
  readonly baseline?: readonly string[];
  /** Called when the files are written. It returns a warning, if there is one. */
  readonly written?: () => Promise<string | undefined>;
}

type Read = (root: string, call: CommandCall) => Promise<ImportedSource>;

/** What can be imported: a new kind is a new row. */
const KINDS: Readonly<Record<string, Read>> = {
  db: async (root, call) =>
    (await import('../import/database/read-database.ts')).importDatabaseAt(root, call),
  hasura: async (root, call) =>
    (await import('../import/hasura/import-metadata.ts')).importHasuraAt(root, call),
  prisma: async (root, { positionals }) =>
    (await import('../import/prisma/import-file.ts')).importPrismaFile(root, positionals[1]),
};

/** `generator import KIND SOURCE`: the schema and the manifest that serve what others made. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [kind = ''] = call.positionals;
  const read = KINDS[kind];
  if (!read)
    throw new CommandError('UNKNOWN_SOURCE', {
      message: kind === '' ? 'import what?' : `${kind} is nothing that can be imported`,
      fix: `one of ${Object.keys(KINDS).join(', ')}`,
    });
  const root = resolve(call.cwd);
  const { imported, source, written, baseline } = await read(root, call);
  const { options } = call;
  assertSomething(imported, source);
  const plan = await planImport(root, imported, {
    source,
    crud: options['crud'] === true,
    managed: options['managed'] === true,
  });
  if (options['dry-run']) return report(plan, imported, call, EXIT.done);
  for (const { file, text } of plan.files) await disk.write(resolve(root, file), text);
  const warning = await written?.();
  const run = await runPipeline(root, baseline ? { baseline } : {}, disk);
  reportFindings(
    run,
    call,
    [],
    'the inputs below were written, and no code was generated from them',
  );
  await reportSecrets(run, call);
  const code = plan.conflicts.length > 0 ? EXIT.conflict : exitCodeOf(run);
  report(plan, imported, call, code);
  if (warning !== undefined)
    call.terminal.say(`${call.terminal.paint.yellow('warning')}  ${warning}`);
  return code;
}

/** @throws CommandError because a schema needs at least one type */
function assertSomething({ types }: Imported, source: string): void {
  if (types.length > 0) return;
  throw new CommandError('NOTHING_TO_IMPORT', {
    message: `${source} has no table to import; nothing was written`,
    fix: 'make its tables first, or name others with --schema, --only and --skip',
  });
}

function report(
  plan: ImportPlan,
  { types, items }: Imported,
  { terminal, options }: CommandCall,
  code: ExitCode,
): ExitCode {
  const counts = countItems(items);
  const files = plan.files.map(({ file }) => file);
  if (terminal.json) {
    terminal.document({
      ok: code === EXIT.done,
      entities: types.length,
      report: counts,
      items,
      files,
      conflicts: plan.conflicts,
      gone: plan.gone,
    });
    return code;
  }
  for (const coordinate of plan.conflicts)
    terminal.say(
      `${terminal.paint.red('conflict')}  ${coordinate} was changed here and there: yours stays, ` +
        `theirs is in ${plan.theirs.join(', ')}`,
    );
  for (const coordinate of plan.gone)
    terminal.say(
      `${terminal.paint.red('gone')}  ${coordinate} is no longer there, and you have changed it: it stays`,
    );
  terminal.note(
    `${terminal.paint.green(options['dry-run'] ? 'would import' : 'imported')}  ${types.length} types: ` +
      `${counts.kept} objects kept, ${counts.approximated} approximated, ${counts.closed} closed, ` +
      `${counts.notExpressible} not expressible\n  ` +
      `${files.length === 0 ? 'no file changes' : files.join('\n  ')}`,
  );
  return code;
}

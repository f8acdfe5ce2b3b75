import { join, resolve } from 'node:path';
import { type Project, readProject, type SourceText } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { ask } from '../cli/ask.ts';
import { closest } from '../cli/closest.ts';
import { formatDiffs } from '../diff.ts';
import { renameFieldInCode, renameTypeInCode } from '../edit/rename-in-code.ts';
import { type Rename, renameInSchema } from '../edit/rename-in-schema.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import type { Change } from '../files.ts';
import { hasErrors, type Reading, readProjectOf, run as runPipeline } from '../pipeline.ts';
import { readUserScalars } from '../user-scalars.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { withRunLock } from '../write/run-lock.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';

/** `generator rename FROM TO`: in the schema, in the user's code and in the database, shown as a diff first. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  if (!reading.project)
    return (reportFindings(reading, call), exitCodeOf({ ...reading, changes: [] }));
  const rename = readRename(call.positionals, reading.project);
  const { project, sources } = reading;
  const inSchema = (marked: boolean) => renameInSchema(sources.schema, rename, { project, marked });
  const [marked, plain] = [inSchema(true), inSchema(false)];
  assertSound(reading, marked);
  const changes = [...schemaChanges(reading, plain), ...(await codeChanges(root, rename))];
  if (!terminal.json) terminal.data(formatDiffs(changes));
  const wanted =
    options['yes'] === true ||
    (!terminal.json &&
      terminal.interactive &&
      (await ask('Rename so? [y/N] ')).trim().toLowerCase().startsWith('y'));
  if (wanted) {
    await apply(root, { changes, marks: between(plain, marked) });
  }
  if (terminal.json)
    terminal.document({ ok: true, renamed: wanted, files: changes.map(({ path }) => path) });
  else
    terminal.note(
      wanted ? 'renamed; the migration is in migrations/' : 'nothing was changed; --yes renames',
    );
  return EXIT.done;
}

/**
 * The schema says `@renamed` for as long as it takes to write the migration; then the migration knows it, and the schema
 * says only what is. Stopped in between, the mark stays, which does no harm.
 */
async function apply(
  root: string,
  { changes, marks }: { readonly changes: readonly Change[]; readonly marks: readonly Change[] },
): Promise<void> {
  const marked = new Map(marks.map(({ path, after }) => [path, after]));
  await withRunLock(root, () =>
    commit(
      root,
      changes.map((change) => ({ ...change, after: marked.get(change.path) ?? change.after })),
      disk,
    ),
  );
  await runPipeline(root, {}, disk);
  if (marks.length === 0) return;
  const unmark = marks.map((change): Change => ({
    ...change,
    before: change.after,
    after: change.before,
  }));
  await withRunLock(root, () => commit(root, unmark, disk));
  await runPipeline(root, {}, disk);
}

function between(plain: readonly SourceText[], marked: readonly SourceText[]): Change[] {
  return marked.flatMap(({ file, text }, at): Change[] =>
    text === plain[at]!.text
      ? []
      : [{ path: file, owner: 'user', kind: 'update', before: plain[at]!.text, after: text }],
  );
}

function readRename([from = '', to = '']: readonly string[], project: Project): Rename {
  const [type = '', field] = from.split('.');
  const name = to.split('.').at(-1)!;
  if (!/^\w+(\.\w+)?$/.test(from) || !/^[A-Za-z]\w*$/.test(name))
    throw new CommandError(
      EXIT.usage,
      'NAMES_MISSING',
      'rename needs two names',
      'npm run generator -- rename User.name User.fullName',
    );
  const entity = project.entities.find((each) => each.name === type);
  const known = project.entities.flatMap((each) => [
    each.name,
    ...each.fields.map((one) => `${each.name}.${one.name}`),
  ]);
  if (!known.includes(from)) {
    const near = closest(from, known);
    throw new CommandError(
      EXIT.usage,
      'UNKNOWN_COORDINATE',
      `the schema has no ${from} that is kept in a table`,
      near ? `did you mean ${near}?` : 'generator explain lists everything',
    );
  }
  if (field === undefined) return { kind: 'type', from: type, to: name };
  if (entity!.fields.some((each) => each.name === name))
    throw new CommandError(EXIT.usage, 'NAME_TAKEN', `${type} has a field ${name} already`);
  return { kind: 'field', type, from: field, to: name };
}

/** The renamed schema is read as a whole before anything is written. */
function assertSound({ sources }: Reading, schema: readonly SourceText[]): void {
  const scalars = readUserScalars(sources.scalars);
  const { diagnostics } = readProject({
    schema,
    manifest: sources.manifest,
    ...(scalars && { scalars }),
  });
  if (!hasErrors(diagnostics)) return;
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  throw new CommandError(
    EXIT.invalid,
    'RENAME_BREAKS',
    `the renamed schema would not be right: ${first!.summary}`,
    first!.fix,
  );
}

function schemaChanges({ sources }: Reading, schema: readonly SourceText[]): Change[] {
  return schema.flatMap(({ file, text }, at): Change[] => {
    const before = sources.schema[at]!.text;
    return before === text
      ? []
      : [{ path: file, owner: 'user', kind: 'update', before, after: text }];
  });
}

async function codeChanges(root: string, rename: Rename): Promise<Change[]> {
  const text = await disk.read(
    join(root, `src/resolvers/${rename.kind === 'type' ? rename.from : rename.type}.ts`),
  );
  if (text === null) return [];
  const changes =
    rename.kind === 'type' ? renameTypeInCode(text, rename) : await renameFieldInCode(text, rename);
  return changes.map(({ path, before, after }) => ({
    path,
    owner: 'user',
    kind: after === null ? 'remove' : before === null ? 'create' : 'update',
    before,
    after,
  }));
}

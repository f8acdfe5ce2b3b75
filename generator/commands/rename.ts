import { join, resolve } from 'node:path';
import { type Project, readProject, type SourceText } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { ask } from '../cli/ask.ts';
import { closest } from '../cli/closest.ts';
import { formatDiffs } from '../diff.ts';
import { renameFieldInCode, renameTypeInCode } from '../edit/rename-in-code.ts';
import { lostOperations, withResolve } from '../edit/keep-operations.ts';
import { type Rename, renameInSchema } from '../edit/rename-in-schema.ts';
import { renameInSeed } from '../edit/rename-in-seed.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import type { FileChange } from '../files.ts';
import { run as runPipeline } from '../pipeline.ts';
import { hasErrors, type InputReading, readProjectOf } from '../read-project.ts';
import { readUserFiles } from '../read.ts';
import { SEED_FILES } from '../seed/read-seed.ts';
import { readUserScalars } from '../user-scalars.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { withRunLock } from '../write/run-lock.ts';
import { reportBrokenInputs } from './outcome.ts';

/**
 * `generator rename FROM TO`: renames in the schema, the user's code and the database, and shows a
 * diff first.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  if (!reading.project) return reportBrokenInputs(reading, call);
  const rename = readRename(call.positionals, reading.project);
  const { project, sources } = reading;
  const inSchema = (marked: boolean) =>
    keepingOperations(reading, rename, renameInSchema(sources.schema, rename, { project, marked }));
  const [marked, plain] = [inSchema(true), inSchema(false)];
  const changes = [
    ...schemaChanges(reading, plain),
    ...(await codeChanges(root, rename)),
    ...(await seedChanges(root, rename)),
  ];
  const left = await mentions(root, rename, changes);
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
    terminal.document({ ok: true, renamed: wanted, files: changes.map(({ path }) => path), left });
  else {
    if (left.length > 0)
      terminal.note(
        `${rename.from} still stands in ${left.join(', ')}: npm run typecheck says which mean it`,
      );
    terminal.note(
      wanted ? 'renamed; the migration is in migrations/' : 'nothing was changed; --yes renames',
    );
  }
  return EXIT.done;
}

/**
 * `@renamed` stands in the schema only until the migration is written, which then records the
 * rename. If the command is stopped in between, the directive stays, which does no harm.
 */
async function apply(
  root: string,
  {
    changes,
    marks,
  }: { readonly changes: readonly FileChange[]; readonly marks: readonly FileChange[] },
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
  const unmark = marks.map((change): FileChange => ({
    ...change,
    before: change.after,
    after: change.before,
  }));
  await withRunLock(root, () => commit(root, unmark, disk));
  await runPipeline(root, {}, disk);
}

function between(plain: readonly SourceText[], marked: readonly SourceText[]): FileChange[] {
  return marked.flatMap(({ file, text }, at): FileChange[] =>
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

/**
 * The renamed schema, in which every operation keeps its behaviour: an operation that was inferred
 * from the old name gets `@resolve`.
 *
 * @throws CommandError `RENAME_BREAKS` when the renamed schema would be wrong, or an operation
 * would be left without an answer.
 */
function keepingOperations(
  reading: InputReading,
  rename: Rename,
  renamed: readonly SourceText[],
): readonly SourceText[] {
  const before = reading.project!;
  const lost = lostOperations(before, readSound(reading, renamed));
  if (lost.length === 0) return renamed;
  const entity = rename.kind === 'type' ? rename.to : rename.type;
  const kept = withResolve(renamed, lost, { entity, project: before });
  const still = lostOperations(before, readSound(reading, kept));
  if (still.length === 0) return kept;
  const names = still.map(({ root, name }) => `${root} ${name}`).join(', ');
  throw new CommandError(
    EXIT.invalid,
    'RENAME_BREAKS',
    `nothing would answer ${names}: what they do is inferred from the name ${rename.from}`,
    `rename them in the schema with it, or write them in src/resolvers/ first`,
  );
}

/** Checks the whole renamed schema before anything is written. */
function readSound({ sources }: InputReading, schema: readonly SourceText[]): Project {
  const scalars = readUserScalars(sources.scalars);
  const { project, diagnostics } = readProject({
    schema,
    manifest: sources.manifest,
    ...(scalars && { scalars }),
  });
  if (project && !hasErrors(diagnostics)) return project;
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  throw new CommandError(
    EXIT.invalid,
    'RENAME_BREAKS',
    `the renamed schema would not be right: ${first!.summary}`,
    first!.fix,
  );
}

function schemaChanges({ sources }: InputReading, schema: readonly SourceText[]): FileChange[] {
  return schema.flatMap(({ file, text }, at): FileChange[] => {
    const before = sources.schema[at]!.text;
    return before === text
      ? []
      : [{ path: file, owner: 'user', kind: 'update', before, after: text }];
  });
}

/** Changes of the seed files, where the type and the field can be found without doubt. */
async function seedChanges(root: string, rename: Rename): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const path of SEED_FILES) {
    const before = await disk.read(join(root, path));
    if (before === null) continue;
    const after = renameInSeed(before, rename);
    if (after !== before) changes.push({ path, owner: 'user', kind: 'update', before, after });
  }
  return changes;
}

/**
 * Lines of the user's code that contain the old name as a word. The type check finds out which of
 * them mean the field.
 */
async function mentions(root: string, { from }: Rename, changes: readonly FileChange[]) {
  const after = new Map(changes.map((change) => [change.path, change.after]));
  const word = new RegExp(`\\b${from}\\b`);
  const files = (await readUserFiles(root)).filter((path) => after.get(path) !== null);
  const made = changes.filter(({ kind }) => kind === 'create').map(({ path }) => path);
  const found: string[] = [];
  for (const path of [...files, ...made]) {
    const text = after.get(path) ?? (await disk.read(join(root, path))) ?? '';
    text.split('\n').forEach((line, index) => {
      if (word.test(line)) found.push(`${path}:${index + 1}`);
    });
  }
  return found;
}

async function codeChanges(root: string, rename: Rename): Promise<FileChange[]> {
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

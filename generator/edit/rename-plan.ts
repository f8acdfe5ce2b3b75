import { join } from 'node:path';
import { type Project, readProject, type SourceText } from '@twofold/schema';
import { findFiles } from '../documents/globs.ts';
import { extractTexts } from '../documents/extract.ts';
import { servedSchema } from '../documents/served-schema.ts';
import { CommandError, EXIT } from '../failure.ts';
import { type FileChange, type Sources, TYPES_FILE } from '../files.ts';
import { planSources, type RunPlan } from '../pipeline.ts';
import { hasErrors, type InputReading } from '../read-project.ts';
import { SEED_FILES } from '../seed/read-seed.ts';
import { readUserScalars } from '../user-scalars.ts';
import type { Disk } from '../write/disk.ts';
import { assertKeptRelations } from './kept-relations.ts';
import { lostOperations, withResolve } from './keep-operations.ts';
import { renamedExports, renameExports, renameFieldInCode } from './rename-in-code.ts';
import { renameInDocuments } from './rename-in-documents.ts';
import { type Rename, renameInSchema } from './rename-in-schema.ts';
import { renameInSeed } from './rename-in-seed.ts';
import { renamedNames } from './renamed-names.ts';

/** A rename in memory: nothing is written. */
export interface RenamePlan {
  /** What changes in the user's files, without the migration. */
  readonly changes: readonly FileChange[];
  readonly migrations: readonly FileChange[];
  /** Names that no longer mean anything. */
  readonly gone: ReadonlySet<string>;
  /** The run after the rename, with everything that it finds. */
  readonly run: RunPlan;
}

/**
 * Renames in memory and runs every stage on the result. With `@renamed` in the schema that run
 * plans the migration; another one without it has to find nothing left to do.
 *
 * @throws CommandError `RENAME_BREAKS` when an operation would be left without an answer.
 */
export async function planRename(
  reading: InputReading,
  rename: Rename,
  disk: Disk,
): Promise<RenamePlan> {
  const { sources } = reading;
  const project = reading.project!;
  const inSchema = (marked: boolean) =>
    keepingOperations(reading, rename, renameInSchema(sources.schema, rename, { project, marked }));
  const plain = changed(sources.schema, new Map(inSchema(false).map((each) => [each.file, each])));
  const marked = changed(sources.schema, new Map(inSchema(true).map((each) => [each.file, each])));
  const after = readSound(reading, inSchema(false));
  assertKeptRelations(project, after);
  const names = renamedNames(project.sdl, after.sdl);
  const others = [
    ...(await documentChanges(sources, project, { names, disk })),
    ...(await moved(sources, rename)),
    ...(await seedChanges(sources.root, rename, disk)),
  ];
  const first = await planWith(sources, [...marked, ...others], disk);
  const migrations = first.changes.filter(
    ({ path, kind }) => path.startsWith('migrations/') && kind !== 'same',
  );
  const types = first.changes.find(({ path }) => path === TYPES_FILE);
  const exports = renamedExports(types?.before ?? '', types?.after ?? '', rename);
  const changes = await inCode(sources.root, [...plain, ...others], { exports, disk });
  const gone = new Set([rename.from, ...exports.keys(), ...[...names.keys()].map(lastName)]);
  if (hasErrors(first.findings)) return { changes, migrations, gone, run: first };
  return {
    changes,
    migrations,
    gone,
    run: await planWith(sources, [...changes, ...migrations], disk),
  };
}

/** The changes together with those of the user's code that renamed exports bring. */
async function inCode(
  root: string,
  changes: readonly FileChange[],
  { exports, disk }: { readonly exports: ReadonlyMap<string, string>; readonly disk: Disk },
): Promise<FileChange[]> {
  if (exports.size === 0) return [...changes];
  const known = new Set(changes.map(({ path }) => path));
  const isOther = (path: string) => path.startsWith('src/generated/') || known.has(path);
  const more: FileChange[] = [];
  for (const path of findFiles(root, ['src/**/*.ts'], isOther).files) {
    const before = (await disk.read(join(root, path)))!;
    more.push(...updated(path, before, renameExports(before, exports)));
  }
  const isCode = ({ path, after }: FileChange) => after !== null && /^src\/.*\.ts$/.test(path);
  const renamed = (each: FileChange) => ({ ...each, after: renameExports(each.after!, exports) });
  return [...changes.map((each) => (isCode(each) ? renamed(each) : each)), ...more];
}

const lastName = (coordinate: string) => coordinate.split('.').at(-1)!;

/** A run whose inputs have these changes. */
async function planWith(
  sources: Sources,
  changes: readonly FileChange[],
  disk: Disk,
): Promise<RunPlan> {
  const texts = new Map(changes.map(({ path, after }) => [path, after]));
  const apply = (all: readonly SourceText[], folder: string): SourceText[] => {
    const made = changes.filter(({ path, before }) => before === null && path.startsWith(folder));
    return [...all, ...made.map(({ path }) => ({ file: path, text: '' }))]
      .map(({ file, text }) => ({ file, text: texts.has(file) ? texts.get(file)! : text }))
      .filter(({ text }) => text !== null)
      .sort((a, b) => (a.file < b.file ? -1 : 1));
  };
  const resolvers = apply(sources.resolvers, 'src/resolvers/');
  const otherUserTexts = apply(sources.otherUserTexts, 'src/hooks/');
  const documents = sources.documents?.map(async (client) => {
    const files = Map.groupBy(client.texts, ({ file }) => file);
    const read = [...files].map(([file, known]) =>
      texts.has(file) ? extractTexts({ file, text: texts.get(file)! }) : known,
    );
    return { ...client, texts: (await Promise.all(read)).flat() };
  });
  const next: Sources = {
    ...sources,
    schema: sources.schema.map(({ file, text }) => ({ file, text: texts.get(file) ?? text })),
    resolvers,
    otherUserTexts,
    userFiles: [...resolvers, ...otherUserTexts].map(({ file }) => file).sort(),
    migrations: apply(sources.migrations, 'migrations/'),
    ...(documents && { documents: await Promise.all(documents) }),
  };
  return planSources(next, { codegen: false }, disk);
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
  throw new CommandError('RENAME_BREAKS', {
    message: `nothing would answer ${names}: what they do is inferred from the name ${rename.from}`,
    fix: `rename them in the schema with it, or write them in src/resolvers/ first`,
    exit: EXIT.invalid,
  });
}

/** Checks the whole renamed schema before anything else is planned. */
function readSound({ sources }: InputReading, schema: readonly SourceText[]): Project {
  const scalars = readUserScalars(sources.scalars);
  const { project, diagnostics } = readProject({
    schema,
    manifest: sources.manifest,
    ...(scalars && { scalars }),
  });
  if (project && !hasErrors(diagnostics)) return project;
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  throw new CommandError('RENAME_BREAKS', {
    message: `the renamed schema would not be right: ${first!.summary}`,
    fix: first!.fix,
    exit: EXIT.invalid,
  });
}

/** The texts that differ, as changes of the user's files. */
function changed(
  before: readonly SourceText[],
  after: ReadonlyMap<string, SourceText>,
): FileChange[] {
  return before.flatMap(({ file, text }) => updated(file, text, after.get(file)!.text));
}

const updated = (path: string, before: string, after: string): FileChange[] =>
  before === after ? [] : [{ path, owner: 'user', kind: 'update', before, after }];

async function documentChanges(
  { root, documents = [] }: Sources,
  project: Project,
  { names, disk }: { readonly names: ReadonlyMap<string, string>; readonly disk: Disk },
): Promise<FileChange[]> {
  const schema = servedSchema(project);
  const changes = new Map<string, FileChange[]>();
  for (const { texts } of documents)
    for (const [path, each] of Map.groupBy(texts, ({ file }) => file)) {
      const before = (await disk.read(join(root, path))) ?? '';
      changes.set(path, updated(path, before, renameInDocuments(before, each, { schema, names })));
    }
  return [...changes.values()].flat();
}

/** The files of the type under its new name, or the member of the field in its file. */
async function moved(sources: Sources, rename: Rename): Promise<FileChange[]> {
  const texts = [...sources.resolvers, ...sources.otherUserTexts];
  const type = rename.kind === 'type' ? rename.from : rename.type;
  const own = texts.filter(({ file }) =>
    [`src/resolvers/${type}.ts`, `src/hooks/${type}.ts`].includes(file),
  );
  if (rename.kind === 'field') {
    const resolvers = own.find(({ file }) => file.startsWith('src/resolvers/'));
    const after = resolvers && (await renameFieldInCode(resolvers.text, rename));
    return resolvers && after ? updated(resolvers.file, resolvers.text, after) : [];
  }
  return own.flatMap(({ file, text }): FileChange[] => [
    { path: file, owner: 'user', kind: 'remove', before: text, after: null },
    {
      path: file.replace(`${type}.ts`, `${rename.to}.ts`),
      owner: 'user',
      kind: 'create',
      before: null,
      after: text,
    },
  ]);
}

/** Changes of the seed files, where the type and the field can be found without doubt. */
async function seedChanges(root: string, rename: Rename, disk: Disk): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const path of SEED_FILES) {
    const before = await disk.read(join(root, path));
    if (before !== null) changes.push(...updated(path, before, renameInSeed(before, rename)));
  }
  return changes;
}

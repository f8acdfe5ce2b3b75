import { readProject, type Diagnostic } from '@twofold/schema';
import { stillToWrite } from '../../generator/answered-fields.ts';
import { renderFiles, type Sources } from '../../generator/files.ts';
import { planMigration } from '../../generator/migrations/plan.ts';
import { planFiles } from '../../generator/plan.ts';
import { packageVersion } from '../../generator/version.ts';
import type { Dialect } from '../../runtime/core/store/store.ts';
import { sqlOf } from './table-statements.ts';

/** The two files, and the migrations that are saved already. */
export interface PlaygroundInput {
  readonly schema: string;
  readonly manifest: string;
  readonly migrations: readonly File[];
}

export interface File {
  readonly file: string;
  readonly text: string;
}

/** What the two files mean. Without a valid project there are findings only. */
export interface PlaygroundOutput {
  readonly findings: readonly Diagnostic[];
  readonly files: readonly File[];
  /** The migration that is not saved yet; null when the saved ones make every table. */
  readonly migration: File | null;
  /** The statements that make all tables, by database. */
  readonly sql: Readonly<Record<Dialect, string>>;
}

/**
 * Runs the generator as the command line runs it in a folder with these two files, without a disk.
 *
 * @example (await generate({ schema, manifest: 'name: shop\n', migrations: [] })).files
 */
export async function generate(input: PlaygroundInput): Promise<PlaygroundOutput> {
  const sources = sourcesOf(input);
  const { project, diagnostics } = readProject({
    schema: sources.schema,
    manifest: sources.manifest,
    // There is no src/scalars.ts.
    scalars: {},
    hooks: {},
    completesUser: false,
  });
  const read = stillToWrite(diagnostics, new Set());
  if (!project) return { findings: read, ...NOTHING };
  const migration = planMigration(project, sources, {});
  const findings = [...read, ...migration.findings];
  if (findings.some(({ severity }) => severity === 'error')) return { findings, ...NOTHING };
  const planned = planFiles(project, { sources, migration, version: packageVersion() });
  const next = migration.files[0];
  return {
    findings,
    files: (await renderFiles(planned)).map(({ path, text }) => ({ file: path, text })),
    migration: next ? { file: next.path, text: next.text } : null,
    sql: { sqlite: await sqlOf(project, 'sqlite'), postgres: await sqlOf(project, 'postgres') },
  };
}

const NOTHING = { files: [], migration: null, sql: { sqlite: '', postgres: '' } } as const;

function sourcesOf({ schema, manifest, migrations }: PlaygroundInput): Sources {
  return {
    root: '/',
    schema: [{ file: 'schema.graphql', text: schema }],
    manifest: manifest.trim() === '' ? null : { file: 'manifest.yaml', text: manifest },
    userFiles: [],
    resolvers: [],
    otherUserTexts: [],
    migrations,
    lockedMigrations: [],
    scalars: null,
    packages: 'registry',
    problems: [],
  };
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic, SourceText } from '@twofold/schema';
import type { Sources } from './files.ts';
import { hasCode } from './write/disk.ts';
import { LOCKFILE, parseLock } from './write/lockfile.ts';

const SCHEMA = 'schema.graphql';
const SCHEMA_FOLDER = 'schema';
const MANIFEST = 'manifest.yaml';
const SINGLE = [
  'src/extend.ts',
  'src/auth-events.ts',
  'src/auth-hooks.ts',
  'src/scalars.ts',
  'src/routes.ts',
  'src/middleware.ts',
  'src/credentials.ts',
];
const FOLDERS = ['src/hooks', 'src/jobs', 'src/mails', 'src/plugins', 'src/resolvers', 'src/texts'];

/** Reads all inputs of a run. Later stages do not read the disk until the write. */
export async function readSources(root: string): Promise<Sources> {
  const problems: Diagnostic[] = [];
  const manifest = await readText(root, MANIFEST, problems);
  const [schema, user, pages, documents, migrations, lock, vendor] = await Promise.all([
    readSchema(root, problems),
    readUser(root),
    readPages(root, manifest),
    readClientDocuments(root, manifest),
    readMigrations(root, problems),
    readText(root, LOCKFILE, []),
    namesIn(root, 'vendor'),
  ]);
  return {
    root,
    schema,
    manifest,
    ...user,
    ...(pages && { pages }),
    ...(documents && { documents }),
    migrations,
    lockedMigrations: goneMigrations(lock?.text ?? null, migrations),
    scalars: user.otherUserTexts.find(({ file }) => file === 'src/scalars.ts')?.text ?? null,
    packages: vendor.some((name) => name.startsWith('twofold-runtime-')) ? 'vendor' : 'registry',
    problems: problems.sort((a, b) => (a.at.file < b.at.file ? -1 : 1)),
  };
}

async function readSchema(root: string, problems: Diagnostic[]): Promise<SourceText[]> {
  const files = [
    SCHEMA,
    ...(await namesIn(root, SCHEMA_FOLDER, true))
      .filter((name) => name.endsWith('.graphql'))
      .map((name) => `${SCHEMA_FOLDER}/${name}`),
  ];
  return (await Promise.all(files.map((file) => readText(root, file, problems)))).filter(
    (source) => source !== null,
  );
}

const PAGES = 'src/console';

/** Pages of the console, and what they import: JavaScript, or TypeScript that Node can strip. */
async function readPages(
  root: string,
  manifest: SourceText | null,
): Promise<Sources['pages'] | null> {
  const folder = await folderOfPages(manifest);
  const names = (await namesIn(root, folder, true)).filter(
    (name) => /\.[jt]s$/.test(name) && !/\.(test|d)\.[jt]s$/.test(name),
  );
  const texts = await Promise.all(names.map((name) => readText(root, `${folder}/${name}`, [])));
  if (texts.length === 0) return null;
  return { folder, texts: texts.filter((source) => source !== null) };
}

/** The manifest is parsed here only when it names another folder. */
async function folderOfPages(manifest: SourceText | null): Promise<string> {
  if (!manifest || !/\bpages\b/.test(manifest.text)) return PAGES;
  const { parse } = await import('yaml');
  try {
    const { console: section } = parse(manifest.text) as { console?: { pages?: unknown } | null };
    return typeof section?.pages === 'string' ? section.pages.replace(/\/+$/, '') : PAGES;
  } catch {
    return PAGES; // The check of the manifest reports it.
  }
}

/** Loaded only for a manifest that names documents. */
async function readClientDocuments(
  root: string,
  manifest: SourceText | null,
): Promise<Sources['documents']> {
  if (!manifest || !/\bclient\b/.test(manifest.text)) return undefined;
  const { readDocuments } = await import('./documents/read-documents.ts');
  return readDocuments(root, manifest);
}

async function readMigrations(root: string, problems: Diagnostic[]): Promise<SourceText[]> {
  const names = (await namesIn(root, 'migrations')).filter((name) =>
    /^\d+_[\w-]+\.(ts|js|mjs)$/.test(name),
  );
  const texts = await Promise.all(
    names.map((name) => readText(root, `migrations/${name}`, problems)),
  );
  return texts.filter((source) => source !== null);
}

/**
 * Migrations that the lockfile lists and that no longer exist. The lockfile only helps to name
 * them: the tables follow from the files alone.
 */
function goneMigrations(lock: string | null, migrations: readonly SourceText[]): string[] {
  const present = new Set(migrations.map(({ file }) => file));
  return [...parseLock(lock)]
    .filter(
      ([path, { owner }]) =>
        owner === 'append' && path.startsWith('migrations/') && !present.has(path),
    )
    .map(([path]) => path);
}

async function readUser(
  root: string,
): Promise<Pick<Sources, 'userFiles' | 'resolvers' | 'otherUserTexts'>> {
  const userFiles = await readUserFiles(root);
  const texts = (await Promise.all(userFiles.map((path) => readText(root, path, [])))).filter(
    (source) => source !== null,
  );
  const isResolvers = ({ file }: SourceText) => file.startsWith('src/resolvers/');
  return {
    userFiles,
    resolvers: texts.filter(isResolvers),
    otherUserTexts: texts.filter((text) => !isResolvers(text)),
  };
}

/** Texts of some files of a project, by path; null for files that do not exist. */
export async function readTexts(
  root: string,
  paths: readonly string[],
): Promise<{ get: (path: string) => string | null }> {
  const texts = new Map(
    await Promise.all(
      paths.map(async (path) => [path, (await readText(root, path, []))?.text ?? null] as const),
    ),
  );
  return { get: (path) => texts.get(path) ?? null };
}

/** The user's files that a run reads, by their path in the project. */
export async function readUserFiles(root: string): Promise<string[]> {
  const single = SINGLE.filter((path) => existsSync(join(root, path)));
  const inFolders = await Promise.all(
    FOLDERS.map(async (folder) => (await namesIn(root, folder)).map((name) => `${folder}/${name}`)),
  );
  return [
    ...single,
    ...inFolders.flat().filter((path) => /\.ts$/.test(path) && !/\.(test|d)\.ts$/.test(path)),
  ].sort();
}

/** Sorted by code unit, because the order in which a disk lists files varies. */
async function namesIn(root: string, folder: string, deep = false): Promise<string[]> {
  try {
    return readdirSync(join(root, folder), { recursive: deep, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      .sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

async function readText(
  root: string,
  file: string,
  problems: Diagnostic[],
): Promise<SourceText | null> {
  const path = join(root, file);
  try {
    if (statSync(path).isDirectory()) return (problems.push(unreadable(file, 'is a folder')), null);
    return {
      file,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)),
    };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    problems.push(
      unreadable(file, error instanceof TypeError ? 'is not UTF-8 text' : 'cannot be read'),
    );
    return null;
  }
}

function unreadable(file: string, what: string): Diagnostic {
  return {
    code: 'FILE_UNREADABLE',
    severity: 'error',
    summary: `${file} ${what}`,
    at: { file, line: 1, column: 1, length: 1 },
  };
}

import { basename, join } from 'node:path';
import { parse as parseSdl } from 'graphql';
import type { IdKind, SourceText } from '@twofold/schema';
import { parse as parseYaml, parseDocument } from 'yaml';
import { EDITOR_LINE, yamlText } from '../../templates/starter/manifest-lines.ts';
import { CommandError } from '../failure.ts';
import { readSources } from '../read.ts';
import { disk } from '../write/disk.ts';
import type { Imported, ImportedAccess } from './imported.ts';
import { mergeSchema } from './merge/merge-schema.ts';
import { printSchema } from './print-schema.ts';
import { printReport } from './report.ts';

/** The changes that an import would make. */
export interface ImportPlan {
  /** Files whose text changes. */
  readonly files: readonly SourceText[];
  /** Coordinates that both the user and the source changed. */
  readonly conflicts: readonly string[];
  /** Coordinates that the source lost and the user has changed. */
  readonly gone: readonly string[];
  /** Files with the source's side of the conflicts. */
  readonly theirs: readonly string[];
}

export interface ImportOptions {
  /** The name of the source in the report. */
  readonly source: string;
  readonly crud: boolean;
  /** Whether migrations keep the tables from now on. */
  readonly managed: boolean;
}

/** The schema that the last import would have written into an empty project. */
export const LAST_IMPORT = '.generator/import.graphql';
const SCHEMA = 'schema.graphql';
const MANIFEST = 'manifest.yaml';
const REPORT = 'import-report.md';

/**
 * Plans an import into a project, or into an empty folder.
 *
 * @throws CommandError `SCHEMA_NOT_IMPORTED` when the schema has types that no import wrote
 * @example await planImport(root, imported, { source: 'schema.prisma', crud: false, managed: false })
 */
export async function planImport(
  root: string,
  imported: Imported,
  options: ImportOptions,
): Promise<ImportPlan> {
  const { schema, manifest } = await readSources(root);
  const database = { managed: options.managed, ids: idsOf(imported, manifest) };
  const base = await disk.read(join(root, LAST_IMPORT));
  const next = printSchema(imported, hasCrud(manifest, options));
  const merged = base === null ? first(schema, next) : repeated(base, next, schema);
  const files = [
    ...merged.files,
    {
      file: MANIFEST,
      text: manifest
        ? withAccess(withDatabase(manifest.text, database), imported.access)
        : newManifest(root, { ...database, crud: options.crud }, imported.access),
    },
    {
      file: REPORT,
      text: printReport(imported, { source: options.source, ...whoHas(imported, manifest) }),
    },
    { file: LAST_IMPORT, text: next },
  ];
  const changed: SourceText[] = [];
  for (const each of files)
    if ((await disk.read(join(root, each.file))) !== each.text) changed.push(each);
  return { ...merged, files: changed };
}

/** Whether the manifest has `crud`. It is not added to a manifest that exists. */
const hasCrud = (manifest: SourceText | null, { crud }: ImportOptions): boolean =>
  manifest ? (settingsOf(manifest)?.api?.crud ?? false) !== false : crud;

/**
 * The form of keys that accounts refer to: that of the type that signs in, else the one that all
 * tables have.
 */
function idsOf({ types, access }: Imported, manifest: SourceText | null): IdKind {
  const user = (manifest && settingsOf(manifest)?.auth?.user) ?? access?.user ?? 'User';
  const ids = types.find(({ name }) => name === user)?.ids;
  const keyed = types.filter(({ table }) => !table.view);
  const all = keyed.length > 0 && keyed.every((each) => each.ids === 'uuid');
  return ids ?? (all ? 'uuid' : 'integer');
}

const settingsOf = ({ text }: SourceText): ManifestShape | null =>
  parseYaml(text) as ManifestShape | null;

/** A line for the report about who may do what; the source may have rules of its own. */
const whoHas = ({ access }: Imported, manifest: SourceText | null) =>
  access ? {} : { access: accessOf(manifest) };

/** Who may read and change what has no rule of its own. */
function accessOf(manifest: SourceText | null): string {
  const settings = manifest ? settingsOf(manifest) : null;
  const isOpen = !settings?.auth || settings.api?.access === 'public';
  return isOpen ? 'everyone who reaches the server' : 'every signed-in user';
}

interface ManifestShape {
  readonly auth?: { readonly user?: string } | null;
  readonly api?: { readonly access?: string; readonly crud?: unknown };
}

function first(schema: readonly SourceText[], next: string): ImportPlan {
  const written = schema.find(({ text }) => hasTypes(text));
  if (written)
    throw new CommandError('SCHEMA_NOT_IMPORTED', {
      message: `${written.file} has types that no import wrote; nothing was written`,
      fix: 'import into an empty folder, and copy from there',
    });
  return { files: [{ file: SCHEMA, text: next }], conflicts: [], gone: [], theirs: [] };
}

const hasTypes = (text: string) => text.trim() !== '' && parseSdl(text).definitions.length > 0;

function repeated(base: string, next: string, yours: readonly SourceText[]): ImportPlan {
  const { files, conflicts, gone } = mergeSchema({ base, next, yours, prefer: 'yours' });
  if (conflicts.length === 0) return { files, conflicts, gone, theirs: [] };
  const theirs = mergeSchema({ base, next, yours, prefer: 'theirs' })
    .files.filter(({ file, text }) => files.find((each) => each.file === file)?.text !== text)
    .map(({ file, text }) => ({ file: `${file}.new`, text }));
  return {
    files: [...files, ...theirs],
    conflicts,
    gone,
    theirs: theirs.map(({ file }) => file),
  };
}

function newManifest(
  root: string,
  { crud, managed, ids }: DatabaseSection & { readonly crud: boolean },
  access: ImportedAccess | undefined,
): string {
  const name = basename(root)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '');
  const lines = [
    `name: ${name === '' ? 'app' : name}`,
    `database: { managed: ${managed}${ids === 'uuid' ? ', ids: uuid' : ''} }`,
    `api: { rest: true${crud ? ', crud: true' : ''} }`,
    ...(access ? authLines(access) : []),
  ];
  return `${EDITOR_LINE}${lines.join('\n')}\n`;
}

const authLines = ({ roles, user }: ImportedAccess): string[] => [
  user === undefined && roles.length === 0 ? 'auth: {}' : 'auth:',
  ...(user === undefined ? [] : [`  user: ${user}`]),
  ...(roles.length === 0 ? [] : [`  roles: { list: [${roles.map(yamlText).join(', ')}] }`]),
];

/** What an import says of the database. */
interface DatabaseSection {
  readonly managed: boolean;
  readonly ids: IdKind;
}

/**
 * Sets `database.managed` in a manifest, and `database.ids` where it has none. The rest of the text
 * stays.
 *
 * @example withDatabase('name: shop\n', { managed: false, ids: 'integer' }) // 'name: shop\ndatabase:\n  managed: false\n'
 */
function withDatabase(text: string, { managed, ids }: DatabaseSection): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const manages = document.getIn(['database', 'managed']) ?? true;
  const names = ids === 'uuid' && !document.hasIn(['database', 'ids']);
  if (manages === managed && !names) return text;
  if (manages !== managed) document.setIn(['database', 'managed'], managed);
  if (names) document.setIn(['database', 'ids'], ids);
  return document.toString({ lineWidth: 0 });
}

/**
 * Adds the roles that the rules name, and the type that signs in, to a manifest. Values that are
 * there already stay.
 *
 * @example withAccess('name: shop\n', { roles: ['editor'] })
 */
function withAccess(text: string, access: ImportedAccess | undefined): string {
  if (!access) return text;
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const auth = (document.toJS() as { auth?: AuthSection | null }).auth ?? {};
  const listed = auth.roles?.list ?? [];
  const missing = access.roles.filter((role) => !listed.includes(role));
  const names = access.user !== undefined && auth.user === undefined;
  if (missing.length === 0 && !names && document.has('auth')) return text;
  if (!document.get('auth')) document.set('auth', document.createNode({}));
  if (names) document.setIn(['auth', 'user'], access.user);
  // A new user gets the last role of the list, so new roles are added before those that are there.
  if (missing.length > 0)
    document.setIn(
      ['auth', 'roles', 'list'],
      document.createNode([...missing, ...listed], { flow: true }),
    );
  return document.toString({ lineWidth: 0 });
}

interface AuthSection {
  readonly user?: string;
  readonly roles?: { readonly list?: readonly string[] };
}

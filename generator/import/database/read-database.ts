import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '@twofold/database';
import { parsePostgresAddress } from '@twofold/schema';
import type { CommandCall, OptionValues } from '../../cli/command.ts';
import { CommandError } from '../../failure.ts';
import { askRuntime } from '../../run-project.ts';
import { settingsIn } from '../../secrets.ts';
import { disk } from '../../write/disk.ts';
import type { Imported, ReportItem } from '../imported.ts';
import { baselineStatements } from './baseline.ts';
import { importDatabase } from './import-database.ts';

const ENV = '.env';

/** A database as a source of an import. */
export interface DatabaseSource {
  readonly imported: Imported;
  readonly source: string;
  /** Writes the address to `.env` where that has none, and nowhere else. */
  readonly written: () => Promise<string | undefined>;
  /** The statements of the first migration, with `--managed`. */
  readonly baseline?: readonly string[];
}

/**
 * Reads the database that is named, else that of the project. Nothing in it is changed.
 *
 * @throws CommandError when there is no such database or schema
 */
export async function importDatabaseAt(root: string, call: CommandCall): Promise<DatabaseSource> {
  const { options, positionals } = call;
  const url = await urlOf(root, positionals[1]);
  const managed = options['managed'] === true;
  if (managed) assertOneSchema(url, options);
  const catalog = await readCatalog(root, url, options);
  const imported = importDatabase(catalog, wantedBy(options), managed);
  return {
    imported: { ...imported, items: [...roleItems(catalog), ...imported.items] },
    source: nameOf(url),
    written: () => keepUrl(root, url),
    ...(managed && { baseline: baselineStatements(catalog) }),
  };
}

/** @throws CommandError because migrations keep the tables of one schema, that of the connection */
function assertOneSchema(url: string, { schema }: OptionValues): void {
  // SQLite calls its only schema `main`.
  const ours = schemaOf(url);
  const others = [schema ?? ours].flat().filter((each) => each !== ours);
  if (others.length === 0) return;
  throw new CommandError('SCHEMA_UNMANAGED', {
    message: `migrations keep the tables of the schema ${ours}, not those of ${others.join(', ')}; nothing was written`,
    fix: 'leave --managed out: the tables are served as they are',
  });
}

/**
 * The statements that make the database of the project as it is.
 *
 * @throws CommandError when there is no such database
 */
export async function baselineOfProject(root: string): Promise<readonly string[]> {
  const url = await urlOf(root, undefined);
  return baselineStatements(await catalogAt(root, url, [schemaOf(url)]));
}

/** The schema of the tables of a project. */
const schemaOf = (url: string): string =>
  /^postgres(ql)?:/.test(url) ? (parsePostgresAddress(url).schema ?? 'public') : 'main';

async function urlOf(root: string, given: string | undefined): Promise<string> {
  const url = given ?? process.env['DATABASE_URL'] ?? settingsIn(root)['DATABASE_URL'];
  if (url !== undefined && url !== '') return url;
  throw new CommandError('URL_MISSING', {
    message: 'no database is named, and DATABASE_URL is not set',
    fix: 'generator import db postgres://user:password@localhost/shop',
  });
}

/** Writes the address to `.env` where that has none. @returns a warning where it has another one */
export async function keepUrl(root: string, url: string): Promise<string | undefined> {
  const there = settingsIn(root)['DATABASE_URL'];
  if (there !== undefined)
    return there === url
      ? undefined
      : `DATABASE_URL in ${ENV} is ${nameOf(there)}, which the server uses: set it to ${nameOf(url)}`;
  const path = join(root, ENV);
  const before = await disk.read(path);
  const line = `DATABASE_URL=${/[#'"\s]/.test(url) ? `"${url}"` : url}\n`;
  if (before === null) await disk.write(path, line, 0o600);
  else appendFileSync(path, before === '' || before.endsWith('\n') ? line : `\n${line}`);
  return undefined;
}

async function readCatalog(root: string, url: string, options: OptionValues): Promise<Catalog> {
  const asked = options['schema'] as readonly string[] | undefined;
  return catalogAt(root, url, asked ?? [schemaOf(url)]);
}

/**
 * What the database says of itself, in some of its schemas. SQLite has none.
 *
 * @throws CommandError when there is no such database or schema
 */
export async function catalogAt(
  root: string,
  url: string,
  named: readonly string[],
): Promise<Catalog> {
  const schemas = url.startsWith('postgres') ? named : undefined;
  const catalog = await askRuntime<Catalog>(root, 'catalogOfDatabase', { url, root, schemas });
  const missing = (schemas ?? []).filter((name) => !catalog.schemas.includes(name));
  if (missing.length === 0) return catalog;
  throw new CommandError('SCHEMA_UNKNOWN', {
    message: `the database has no schema ${missing.join(', ')}`,
  });
}

/** Patterns name a table with or without its schema. */
function wantedBy(options: OptionValues) {
  const only = options['only'] as readonly string[] | undefined;
  const skip = (options['skip'] as readonly string[] | undefined) ?? [];
  return ({ schema, name }: { readonly schema: string; readonly name: string }) => {
    const isOne = (glob: string) => fits(name, glob) || fits(`${schema}.${name}`, glob);
    return (only === undefined || only.some(isOne)) && !skip.some(isOne);
  };
}

/** Row-level security holds, or not, for the role that the server connects as. */
export function roleItems({ role, tables }: Catalog): ReportItem[] {
  const secured = tables.filter(({ rowSecurity }) => rowSecurity);
  if (!role) return [];
  const effect = role.bypassesRowSecurity ? 'does not hold for' : 'holds for';
  return secured.map(({ schema, name }) => ({
    object: `${schema}.${name}.row level security`,
    kind: 'row level security',
    status: role.bypassesRowSecurity ? 'notExpressible' : 'kept',
    why: `it ${effect} the role ${role.name}, which the URL has`,
  }));
}

/** The address without a password. */
export function nameOf(url: string): string {
  if (!/^postgres(ql)?:/.test(url)) return url;
  const { database = '', places } = parsePostgresAddress(url);
  return `the database ${database} at ${places.map(({ host }) => host).join(', ')}`;
}

/** Whether a name fits a pattern with `*` and `?`. */
function fits(name: string, glob: string): boolean {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${pattern}$`).test(name);
}

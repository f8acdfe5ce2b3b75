import { first } from '@twofold/schema';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { CommandError, EXIT } from '../../failure.ts';
import type { Metadata } from './metadata.ts';

/** How deep files may include each other. Deeper files are taken for a circle. */
const DEEPEST = 20;

/** The most files that are read, because a few files could each include the next one many times. */
const MOST_FILES = 10_000;

/** Files of a metadata folder that stand for several keys of the single JSON file. */
const SEVERAL = new Set(['actions', 'graphql_schema_introspection']);

/** Files of a folder, and the key of the one JSON file that each is. */
const PARTS = [
  'actions',
  'allow_list',
  'api_limits',
  'backend_configs',
  'cron_triggers',
  'graphql_schema_introspection',
  'inherited_roles',
  'metrics_config',
  'network',
  'opentelemetry',
  'query_collections',
  'remote_schemas',
  'rest_endpoints',
];

/**
 * Reads the metadata of Hasura: a folder as its command line exports it, or one JSON file.
 *
 * @throws CommandError when there is none, when a file cannot be read, and for another version
 * @example readMetadata('/shop', 'hasura/metadata').sources
 */
export function readMetadata(root: string, given: string): Metadata {
  const path = metadataPath(resolve(root, given));
  if (path === null)
    throw new CommandError('SOURCE_MISSING', {
      message: `there is no metadata of Hasura at ${given}`,
      fix: 'generator import hasura hasura/metadata, the folder with version.yaml, or one JSON file',
    });
  const isFolder = statSync(path).isDirectory();
  const seen = new Set<string>();
  const read = createReader(root, isFolder ? path : dirname(path), seen);
  const found = isFolder
    ? { ...fromFolder(path, read), unread_files: unreadFiles(path, seen) }
    : fromFile(path, read);
  if (found['version'] !== 3)
    throw new CommandError('METADATA_VERSION', {
      message: `${given} has metadata of version ${JSON.stringify(found['version'] ?? null)}, and only version 3 can be imported`,
      fix: 'hasura scripts update-project-v3, then export the metadata again',
    });
  if (!Array.isArray(found['sources']))
    throw new CommandError('METADATA_SYNTAX', {
      message: `${given} has no list of sources`,
      exit: EXIT.invalid,
    });
  return found as unknown as Metadata;
}

/** The folder itself, or the folder `metadata` of a project of Hasura. */
function metadataPath(path: string): string | null {
  const inside = join(path, 'metadata');
  if (existsSync(join(inside, 'version.yaml'))) return inside;
  if (!existsSync(path)) return null;
  return !statSync(path).isDirectory() || existsSync(join(path, 'version.yaml')) ? path : null;
}

type Read = (path: string, depth?: number) => unknown;
type Parts = Record<string, unknown>;

function fromFile(path: string, read: Read): Parts {
  const found = (read(path) ?? {}) as Parts;
  return (found['metadata'] as Parts | undefined) ?? found;
}

function fromFolder(path: string, read: Read): Parts {
  const parts = PARTS.map((name) => ({ name, file: join(path, `${name}.yaml`) }));
  const found = parts.filter(({ file }) => existsSync(file));
  const databases = join(path, 'databases/databases.yaml');
  return Object.assign(
    { ...(read(join(path, 'version.yaml')) as Parts) },
    { sources: existsSync(databases) ? read(databases) : [] },
    ...found.map(({ name, file }) =>
      SEVERAL.has(name) ? (read(file) as Parts) : { [name]: read(file) },
    ),
  ) as Parts;
}

/** Files of the folder that no known file includes: the report names them. */
const unreadFiles = (folder: string, seen: ReadonlySet<string>): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name) && !seen.has(join(folder, name)))
    .sort();

/**
 * Reads a file of YAML or JSON, with the files of the folder that it includes in their places.
 *
 * @param seen gets the path of each file that is read.
 */
function createReader(root: string, folder: string, seen: Set<string>): Read {
  let files = 0;
  const read: Read = (path, depth = 0) => {
    const name = relative(root, path);
    files += 1;
    seen.add(path);
    if (depth > DEEPEST) throw notIncluded(`${name} includes itself`);
    if (files > MOST_FILES) throw notIncluded(`the files include more than ${MOST_FILES} others`);
    if (!existsSync(path)) throw notIncluded(`${name} is included, and is not there`);
    if (depth > 0 && !isBelow(folder, path))
      throw notIncluded(`${name} is included, and is outside of ${relative(root, folder) || '.'}`);
    return included(parse(path, name), path, depth);
  };
  const included = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === 'string') {
      const file = /^!include\s+(.+)$/.exec(value)?.[1];
      return file === undefined ? value : read(join(dirname(path), file.trim()), depth + 1);
    }
    if (Array.isArray(value)) return value.map((each) => included(each, path, depth));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, included(each, path, depth)]),
    );
  };
  return read;
}

const notIncluded = (why: string) =>
  new CommandError('METADATA_INCLUDE', {
    message: why,
    fix: 'hasura metadata export',
    exit: EXIT.invalid,
  });

/**
 * Whether a path is inside the folder. The report quotes metadata, which may come from strangers,
 * so that no other file of the machine may be read.
 */
function isBelow(folder: string, path: string): boolean {
  const way = relative(realpathSync(folder), realpathSync(path));
  return !way.startsWith('..') && !isAbsolute(way);
}

/** The tag that older exports write without quotes. */
const INCLUDE = { tag: '!include', resolve: (text: string) => `!include ${text}` };

function parse(path: string, name: string): unknown {
  const document = parseDocument(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), {
    customTags: [INCLUDE],
  });
  const [error] = document.errors;
  if (!error) return valueOf(document, name);
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  const why = first(error.message.split('\n')).replace(/ at line.*$/, '');
  throw unreadable(`${name}:${line}:${col}`, why);
}

/** Aliases of aliases, which would fill the memory, are refused here. */
function valueOf(document: ReturnType<typeof parseDocument>, name: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (error) {
    throw unreadable(name, (error as Error).message);
  }
}

const unreadable = (place: string, why: string) =>
  new CommandError('METADATA_SYNTAX', {
    message: `${place} cannot be read: ${why}`,
    exit: EXIT.invalid,
  });

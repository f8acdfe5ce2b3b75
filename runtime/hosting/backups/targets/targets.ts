import { isAbsolute, resolve } from 'node:path';
import { failure, ConfigError } from '@twofold/runtime/errors';
import type { HostingStore } from '../../records/tables.ts';
import type { Seal } from '../../records/seal.ts';
import { createSealedTable } from '../../records/sealed-table.ts';
import { targetFailed } from '../failures.ts';
import { createLocalTarget } from './local.ts';
import { createS3Target, type S3Options } from './s3.ts';
import { type Target, tryTarget } from './target.ts';

/** The target of the manifest, `hosting.backups.directory`. */
const LOCAL = 'local' as const;

/** How a target is described by `PUT /api/backup-targets/:name`. */
export type TargetFields =
  | ({ readonly kind: 's3' } & S3Options)
  | { readonly kind: 'local'; readonly path: string };

/** The targets of an installation, in its database. Their fields are sealed. */
export interface Targets {
  /** @throws AppError 404 when there is no such target. */
  open(name: string): Promise<Target>;
  /** @throws AppError 422 that names the targets there are. */
  assertKnown(name: string | undefined): Promise<void>;
  /** Keeps a target after it was tried. @throws AppError 400, 422 */
  put(name: string, fields: TargetFields): Promise<void>;
  list(): Promise<readonly Record<string, unknown>[]>;
  remove(name: string): Promise<void>;
  /** Whether a folder is that of the target `local`. */
  isLocal(path: string): boolean;
}

/** @param folder that of the target `local`. */
export function createTargets(
  store: Pick<HostingStore, 'db'>,
  seal: Seal,
  folder: string,
): Targets {
  const table = createSealedTable<TargetFields>(
    store,
    seal,
    'hosting_backup_targets',
    'backup-target',
  );
  const find = async (name: string): Promise<TargetFields> => {
    const found = name === LOCAL ? { kind: LOCAL, path: folder } : await table.find(name);
    if (found) return found;
    throw notFound(name);
  };
  return {
    open: async (name) => createTarget(await find(name)),
    async assertKnown(name) {
      if (name === undefined || name === LOCAL) return;
      const known = [LOCAL, ...(await table.all()).map((row) => row.name)];
      if (known.includes(name)) return;
      throw failure.unprocessable(
        `backup.target ${name} is none of the backup targets, which are ${known.join(', ')}: add it with PUT /api/backup-targets/${name}`,
      );
    },
    async put(name, fields) {
      assertFields(name, fields);
      await tryTarget(createTarget(fields)).catch((error: Error) => {
        throw targetFailed(`The target cannot be used: ${error.message}`, error);
      });
      await table.save(name, fields);
    },
    isLocal: (path) => path === folder,
    async list() {
      const own = { name: LOCAL, kind: 'local', path: folder };
      return [own, ...(await table.all()).map(({ name, value }) => showTarget(name, value))];
    },
    async remove(name) {
      if (name === LOCAL) throw failure.badRequest('local is the target of the manifest');
      if (!(await table.remove(name))) throw notFound(name);
    },
  };
}

const notFound = (name: string) => failure.notFound(`Backup target ${name} not found`);

/** Creates a target from its description. */
export const createTarget = (fields: TargetFields): Target =>
  fields.kind === 's3' ? createS3Target(fields) : createLocalTarget(fields.path);

/** A target without its keys. */
export function showTarget(name: string, fields: TargetFields): Record<string, unknown> {
  if (fields.kind === 'local') return { name, ...fields };
  const { access_key_id: _id, secret_access_key: _secret, ...shown } = fields;
  return { name, ...shown };
}

function assertFields(name: string, fields: TargetFields): void {
  if (name === LOCAL)
    throw failure.badRequest('local is the target of the manifest: use another name');
  if (fields.kind === 'local') {
    if (isAbsolute(fields.path)) return;
    throw failure.badRequest('path must be absolute');
  }
  const { protocol, pathname, search, username } = new URL(fields.endpoint);
  if (!/^https?:$/.test(protocol) || pathname !== '/' || search !== '' || username !== '')
    throw failure.badRequest(
      'endpoint must be an address such as https://s3.eu-west-1.amazonaws.com',
    );
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a target from the command line: a folder, or `s3://bucket/prefix` with the key in the
 * variables that other programs for S3 use too.
 *
 * @throws ConfigError when a variable is missing.
 * @example parseTarget('s3://shop-backups/host-1', process.env)
 */
export function parseTarget(text: string, env: Environment, cwd = process.cwd()): TargetFields {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return { kind: 'local', path: resolve(cwd, text) };
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  const given = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  return {
    kind: 's3',
    bucket,
    region,
    endpoint: given || `https://s3.${region}.amazonaws.com`,
    // A server of one's own rarely has a host name for each bucket.
    path_style: given !== undefined && given !== '',
    ...(prefix && { prefix }),
    access_key_id: needed(env, 'AWS_ACCESS_KEY_ID'),
    secret_access_key: needed(env, 'AWS_SECRET_ACCESS_KEY'),
  };
}

function needed(env: Environment, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new ConfigError([`${name} is not set: an s3:// target needs the key to its bucket`]);
}

import { isAbsolute } from 'node:path';
import { failure } from '@twofold/runtime/errors';
import type { Store } from '@twofold/runtime/kernel';
import type { Seal } from '../../records/seal.ts';
import { targetFailed } from '../failures.ts';
import { createLocalTarget } from './local.ts';
import { createS3Target, type S3Options } from './s3.ts';
import { type Target, tryTarget } from './target.ts';

/** The target of the manifest, `hosting.backups.directory`. */
const LOCAL = 'local';

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

const TABLE = 'hosting_backup_targets';

export function createTargets({
  store: { db },
  seal,
  folder,
}: {
  readonly store: Pick<Store, 'db'>;
  readonly seal: Seal;
  /** The folder of the target `local`. */
  readonly folder: string;
}): Targets {
  const fieldsOf = ({ name, sealed }: { name: string; sealed: string }) =>
    JSON.parse(seal.open(sealed, aboutTarget(name))) as TargetFields;
  const find = async (name: string): Promise<TargetFields> => {
    if (name === LOCAL) return { kind: 'local', path: folder };
    const row = await db.selectFrom(TABLE).selectAll().where('name', '=', name).executeTakeFirst();
    if (row) return fieldsOf(row as never);
    throw failure.notFound(`Backup target ${name} not found`);
  };
  return {
    open: async (name) => createTarget(await find(name)),
    async assertKnown(name) {
      if (name === undefined || name === LOCAL) return;
      const rows = await db.selectFrom(TABLE).select('name').orderBy('name').execute();
      const known = [LOCAL, ...rows.map((row) => String(row['name']))];
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
      const sealed = seal.seal(JSON.stringify(fields), aboutTarget(name));
      await db
        .insertInto(TABLE)
        .values({ name, sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute();
    },
    isLocal: (path) => path === folder,
    async list() {
      const rows = await db.selectFrom(TABLE).selectAll().orderBy('name').execute();
      const own = { name: LOCAL, kind: 'local', path: folder };
      return [own, ...rows.map((row) => showTarget(row['name'], fieldsOf(row as never)))];
    },
    async remove(name) {
      if (name === LOCAL) throw failure.badRequest('local is the target of the manifest');
      await find(name);
      await db.deleteFrom(TABLE).where('name', '=', name).execute();
    },
  };
}

const aboutTarget = (name: string) => `backup-target:${name}`;

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

import { AppError, failure } from '@twofold/runtime/errors';
import { HOST_WITH_PORT } from '../records/names.ts';
import type { HostingStore, RowOf } from '../records/tables.ts';
import type { PublicKey } from './keys.ts';

/** The key by which a git host is recognised. `clone`: it was pinned when it was first used. */
type GitHost = RowOf<typeof TABLE>;

/** The keys of git hosts, each pinned at the first clone or given before it. */
export interface HostKeys {
  list(): Promise<readonly GitHost[]>;
  find(host: string): Promise<GitHost | undefined>;
  put(host: string, key: PublicKey): Promise<GitHost>;
  /**
   * Keeps the key of a host that has none. @throws AppError 422 when it has another one, which a
   * clone at the same moment may have pinned.
   */
  pin(host: string, key: PublicKey): Promise<void>;
  /** @returns whether there was one. */
  delete(host: string): Promise<boolean>;
}

const TABLE = 'hosting_git_hosts';

export function createHostKeys({ db }: Pick<HostingStore, 'db'>, now: () => number): HostKeys {
  const rowOf = (host: string, { line, fingerprint }: PublicKey, source: GitHost['source']) => ({
    host,
    public_key: line,
    fingerprint,
    source,
    created_at: new Date(now()).toISOString(),
  });
  const find = (host: string) =>
    db.selectFrom(TABLE).selectAll().where('host', '=', host).executeTakeFirst();
  return {
    find,
    list: () => db.selectFrom(TABLE).selectAll().orderBy('host').execute(),
    async put(host, key) {
      const row = rowOf(host, key, 'api');
      await db
        .insertInto(TABLE)
        .values(row)
        .onConflict((conflict) => conflict.column('host').doUpdateSet(row))
        .execute();
      return row;
    },
    async pin(host, key) {
      await db
        .insertInto(TABLE)
        .values(rowOf(host, key, 'clone'))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const kept = await find(host);
      if (kept && kept.fingerprint !== key.fingerprint)
        throw hostKeyChanged(host, { pinned: kept.fingerprint, given: key.fingerprint });
    },
    async delete(host) {
      const query = db.deleteFrom(TABLE).where('host', '=', host).returning('host');
      return (await query.executeTakeFirst()) !== undefined;
    },
  };
}

/**
 * The name under which the key of a host is kept: a port other than 22 belongs to it.
 *
 * @example gitHostName({ host: 'git.example.com', port: 2222 }) // 'git.example.com:2222'
 */
export function gitHostName({ host, port }: { readonly host: string; readonly port: number }) {
  const name = host.includes(':') ? `[${host}]` : host;
  return (port === 22 ? name : `${name}:${port}`).toLowerCase();
}

/** @throws AppError 400 */
export function parseGitHost(text: string): string {
  const host = text.toLowerCase().replace(/:22$/, '');
  if (host.length <= 260 && HOST_WITH_PORT.test(host)) return host;
  throw failure.badRequest('The host must be a name with an optional port: git.example.com:2222');
}

/** The error of a host that is perhaps another one: it names both keys, and the call that decides. */
export function hostKeyChanged(
  host: string,
  { pinned, given }: { readonly pinned: string; readonly given: string },
): AppError {
  return new AppError(
    422,
    'HOST_KEY_CHANGED',
    `The host key of ${host} is not the pinned one: it is ${given}, and ${pinned} is pinned. Somebody may be in between. If the host says that its key has changed, set the new one with PUT /api/git/hosts/${host}`,
  );
}

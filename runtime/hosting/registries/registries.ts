import type { HostingStore } from '../records/tables.ts';
import { failure } from '@twofold/runtime/errors';
import type { Environment, Logger } from '@twofold/runtime/kernel';
import type { RegistryLogin } from '../engine/images.ts';
import type { Seal } from '../records/seal.ts';
import { createDockerLogins } from './docker-config.ts';
import { registryHostOf } from './host.ts';

/** The user of a registry as the API shows it. The password is never shown. */
export interface ShownRegistry {
  readonly host: string;
  /** Null when Docker's settings name a helper that has no answer now. */
  readonly username: string | null;
  readonly source: 'api' | 'docker-config';
}

/**
 * The users with whom images are pulled, each for one registry. Those of the API come before those
 * of `docker login`.
 */
export interface Registries {
  list(): Promise<readonly ShownRegistry[]>;
  put(host: string, user: Pick<RegistryLogin, 'username' | 'password'>): Promise<ShownRegistry>;
  /** @throws AppError 404 without a user, 409 for one of `docker login`. */
  delete(host: string): Promise<void>;
  /** The user of a registry. */
  find(host: string): Promise<RegistryLogin | undefined>;
  /** The user of the registry from which an image is pulled. */
  loginFor(reference: string): Promise<RegistryLogin | undefined>;
  /** The registries of the API as patterns of `hosting.build.from`. */
  named(): Promise<readonly string[]>;
}

interface RegistriesParts {
  readonly store: Pick<HostingStore, 'db'>;
  readonly seal: Seal;
  readonly env: Environment;
  readonly log: Logger;
  readonly now: () => number;
}

const TABLE = 'hosting_registries';

export function createRegistries({ store, seal, env, log, now }: RegistriesParts): Registries {
  const docker = createDockerLogins(env, log);
  const stored = createLoginTable({ store, seal, now });
  const find = async (host: string) => (await stored.find(host)) ?? (await docker.find(host));
  return {
    find,
    loginFor: (reference) => find(registryHostOf(reference)),
    named: async () => (await stored.list()).map(({ host }) => `${host}/*`),
    async list() {
      const ours = await stored.list();
      const others = (await docker.hosts()).filter((host) => !ours.some((o) => o.host === host));
      const shown = others.map(async (host): Promise<ShownRegistry> => {
        const login = await docker.find(host);
        return { host, username: login?.username || null, source: 'docker-config' };
      });
      return [...ours, ...(await Promise.all(shown))].toSorted((a, b) =>
        a.host < b.host ? -1 : 1,
      );
    },
    async put(host, user) {
      await stored.set({ host, ...user });
      return { host, username: user.username, source: 'api' };
    },
    async delete(host) {
      if (await stored.delete(host)) return;
      if (!(await docker.hosts()).includes(host)) throw failure.notFound('Registry not found');
      throw failure.conflict(`The user of ${host} is that of docker login: use docker logout`);
    },
  };
}

/** The users that came by the API. Passwords are sealed for their host. */
function createLoginTable({
  store: { db },
  seal,
  now,
}: Pick<RegistriesParts, 'store' | 'seal' | 'now'>) {
  const about = (host: string) => `registry:${host}`;
  return {
    async list(): Promise<readonly ShownRegistry[]> {
      const rows = await db.selectFrom(TABLE).select(['host', 'username']).execute();
      return rows.map((row) => ({ ...row, source: 'api' }));
    },
    async find(host: string): Promise<RegistryLogin | undefined> {
      const row = await db
        .selectFrom(TABLE)
        .select(['username', 'sealed'])
        .where('host', '=', host)
        .executeTakeFirst();
      if (!row) return undefined;
      return { host, username: row.username, password: seal.open(row.sealed, about(host)) };
    },
    async set({ host, username, password }: RegistryLogin): Promise<void> {
      const sealed = seal.seal(password, about(host));
      const row = { host, username, sealed, updated_at: new Date(now()).toISOString() };
      await db
        .insertInto(TABLE)
        .values(row)
        .onConflict((conflict) => conflict.column('host').doUpdateSet(row))
        .execute();
    },
    async delete(host: string): Promise<boolean> {
      const gone = await db
        .deleteFrom(TABLE)
        .where('host', '=', host)
        .returning('host')
        .executeTakeFirst();
      return gone !== undefined;
    },
  };
}

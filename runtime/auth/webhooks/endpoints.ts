import type { Kysely } from 'kysely';
import type { AuthConfig } from '../config.ts';
import { digest, ulid } from '../ids.ts';
import type { Keys } from '../keys.ts';
import { seal, unseal } from '../seal.ts';
import { asWebhookSecret, newWebhookSecret } from './signature.ts';

/** A place that events are sent to. */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly source: 'manifest' | 'admin';
  readonly created_at: number;
  readonly disabled_at: number | null;
}

/** What sending needs to know of an endpoint. */
export interface SealedEndpoint {
  readonly endpoint_id: string;
  readonly url: string;
  readonly secret_sealed: string;
  readonly previous_sealed: string | null;
  readonly previous_until: number | null;
}

/** Where webhooks go, in `auth_webhook_endpoints`. A secret is sealed at rest and opened to sign. */
export interface Endpoints {
  list(db: Kysely<any>): Promise<Endpoint[]>;
  create(
    trx: Kysely<any>,
    url: string,
    types: readonly string[],
  ): Promise<{ readonly endpoint: Endpoint; readonly secret: string }>;
  /** A new secret; the old one signs too until `overlap` milliseconds are over. @returns null when there is no such endpoint. */
  rotate(trx: Kysely<any>, id: string, overlap: number): Promise<string | null>;
  remove(trx: Kysely<any>, id: string): Promise<boolean>;
  disable(db: Kysely<any>, id: string): Promise<void>;
  find(db: Kysely<any>, id: string): Promise<SealedEndpoint | undefined>;
  /** The secrets that sign now: the current one, and the one before while both hold. */
  secrets(endpoint: SealedEndpoint): readonly string[];
  /** Makes the manifest's endpoints those that stand in it now. */
  takeIn(db: Kysely<any>, webhooks: AuthConfig['webhooks']): Promise<void>;
}

const SEALED = [
  'id as endpoint_id',
  'url',
  'secret_sealed',
  'previous_sealed',
  'previous_until',
] as const;

export function createEndpoints(keys: Keys, now: () => number): Endpoints {
  const sealed = (id: string, secret: string) => seal(keys.derived('webhook-seal'), secret, id);
  const opened = (id: string, text: string | null) =>
    text === null ? null : unseal(keys.derivedAll('webhook-seal'), text, id);
  const insert = async (
    trx: Kysely<any>,
    given: Pick<Endpoint, 'id' | 'url' | 'types' | 'source'>,
    secret: string,
  ): Promise<Endpoint> => {
    const endpoint = { ...given, created_at: now(), disabled_at: null };
    await trx
      .insertInto('auth_webhook_endpoints')
      .values({
        ...endpoint,
        types: JSON.stringify(given.types),
        secret_sealed: sealed(given.id, secret),
        previous_sealed: null,
        previous_until: null,
      })
      .execute();
    return endpoint;
  };
  const set = (db: Kysely<any>, id: string, values: Record<string, unknown>) =>
    db.updateTable('auth_webhook_endpoints').set(values).where('id', '=', id).execute();
  const find: Endpoints['find'] = async (db, id) =>
    (await db
      .selectFrom('auth_webhook_endpoints')
      .select(SEALED)
      .where('id', '=', id)
      .executeTakeFirst()) as SealedEndpoint | undefined;
  return {
    find,
    list: async (db) =>
      (
        await db
          .selectFrom('auth_webhook_endpoints')
          .select(['id', 'url', 'types', 'source', 'created_at', 'disabled_at'])
          .orderBy('created_at')
          .orderBy('id')
          .execute()
      ).map((row) => ({ ...row, types: JSON.parse(row['types']) }) as Endpoint),
    create: async (trx, url, types) => {
      const secret = newWebhookSecret();
      return {
        endpoint: await insert(
          trx,
          { id: `wh_${ulid(now())}`, url, types, source: 'admin' },
          secret,
        ),
        secret,
      };
    },
    rotate: async (trx, id, overlap) => {
      const row = await find(trx, id);
      if (!row) return null;
      const secret = newWebhookSecret();
      await set(trx, id, {
        secret_sealed: sealed(id, secret),
        previous_sealed: row.secret_sealed,
        previous_until: now() + overlap,
      });
      return secret;
    },
    remove: async (trx, id) => {
      await trx.deleteFrom('auth_webhook_deliveries').where('endpoint_id', '=', id).execute();
      return (
        Number(
          (await trx.deleteFrom('auth_webhook_endpoints').where('id', '=', id).executeTakeFirst())
            .numDeletedRows,
        ) > 0
      );
    },
    disable: async (db, id) => void (await set(db, id, { disabled_at: now() })),
    secrets: (row) => {
      const previous =
        (row.previous_until ?? 0) > now() ? opened(row.endpoint_id, row.previous_sealed) : null;
      return [opened(row.endpoint_id, row.secret_sealed), previous].filter(
        (secret) => secret !== null,
      );
    },
    takeIn: async (db, webhooks) => {
      const known = new Set(
        (
          await db
            .selectFrom('auth_webhook_endpoints')
            .select('id')
            .where('source', '=', 'manifest')
            .execute()
        ).map(({ id }) => id as string),
      );
      const wanted = webhooks.map((webhook) => ({
        ...webhook,
        id: `wh_${digest(webhook.url).slice(0, 22)}`,
        secret: asWebhookSecret(webhook.secret),
      }));
      for (const id of known)
        if (!wanted.some((each) => each.id === id)) await set(db, id, { disabled_at: now() });
      for (const { id, url, types, secret } of wanted) {
        if (known.has(id))
          await set(db, id, {
            types: JSON.stringify(types),
            secret_sealed: sealed(id, secret),
            disabled_at: null,
          });
        else await insert(db, { id, url, types, source: 'manifest' }, secret);
      }
    },
  };
}

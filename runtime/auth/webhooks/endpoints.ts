import type { Db, RowOf } from '../base/tables.ts';
import type { AuthConfig } from '../config.ts';
import { digest, ulid } from '../base/ids.ts';
import { type Keys, seal, unseal } from '../secrets/keys.ts';
import { asWebhookSecret, newWebhookSecret } from './post.ts';

/** A URL that events are sent to. */
export interface Endpoint extends Omit<
  RowOf<'auth_webhook_endpoints'>,
  'types' | keyof SealedEndpoint
> {
  readonly url: string;
  readonly types: readonly string[];
}

/** What an operator may change of an endpoint. */
export interface EndpointChange {
  readonly url?: string;
  readonly types?: readonly string[];
  readonly disabled?: boolean;
}

/** The columns of an endpoint that sending needs, with encrypted secrets. */
export interface SealedEndpoint extends Pick<
  RowOf<'auth_webhook_endpoints'>,
  'url' | 'secret_sealed' | 'previous_sealed' | 'previous_until'
> {
  readonly endpoint_id: string;
}

const SEALED_COLUMNS = [
  'id as endpoint_id',
  'url',
  'secret_sealed',
  'previous_sealed',
  'previous_until',
] as const;

/** Endpoints of webhooks, in `auth_webhook_endpoints`. Secrets are stored encrypted. */
export class Endpoints {
  readonly #keys: Keys;
  readonly #now: () => number;

  constructor(keys: Keys, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  async list(db: Db): Promise<Endpoint[]> {
    const rows = await db
      .selectFrom('auth_webhook_endpoints')
      .select(['id', 'url', 'types', 'source', 'created_at', 'disabled_at'])
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map((row) => ({ ...row, types: JSON.parse(row.types) as string[] }));
  }

  async find(db: Db, id: string): Promise<SealedEndpoint | undefined> {
    const query = db
      .selectFrom('auth_webhook_endpoints')
      .select(SEALED_COLUMNS)
      .where('id', '=', id);
    return query.executeTakeFirst();
  }

  async create(
    trx: Db,
    url: string,
    types: readonly string[],
  ): Promise<{ readonly endpoint: Endpoint; readonly secret: string }> {
    const secret = newWebhookSecret();
    const given = { id: `wh_${ulid(this.#now())}`, url, types, source: 'admin' as const };
    return { endpoint: await this.#insert(trx, given, secret), secret };
  }

  /**
   * Creates a new secret. For `overlap` milliseconds requests are signed with the old secret too.
   *
   * @returns null when there is no such endpoint.
   */
  async rotate(trx: Db, id: string, overlap: number): Promise<string | null> {
    const row = await this.find(trx, id);
    if (!row) return null;
    const secret = newWebhookSecret();
    await set(trx, id, {
      secret_sealed: this.#seal(id, secret),
      previous_sealed: row.secret_sealed,
      previous_until: this.#now() + overlap,
    });
    return secret;
  }

  async remove(trx: Db, id: string): Promise<boolean> {
    await trx.deleteFrom('auth_webhook_deliveries').where('endpoint_id', '=', id).execute();
    const query = trx.deleteFrom('auth_webhook_endpoints').where('id', '=', id);
    return Number((await query.executeTakeFirst()).numDeletedRows) > 0;
  }

  async disable(db: Db, id: string): Promise<void> {
    await set(db, id, { disabled_at: this.#now() });
  }

  /** Changes what is given. Deliveries that wait go to the new address. */
  async update(db: Db, id: string, { url, types, disabled }: EndpointChange): Promise<void> {
    const values = {
      ...(url !== undefined && { url }),
      ...(types !== undefined && { types: JSON.stringify(types) }),
      ...(disabled !== undefined && { disabled_at: disabled ? this.#now() : null }),
    };
    if (Object.keys(values).length > 0) await set(db, id, values);
  }

  /** The secrets to sign with: the current one, and the previous one during the overlap. */
  secrets(row: SealedEndpoint): readonly string[] {
    const open = (text: string) =>
      unseal(this.#keys.derivedAll('webhook-seal'), text, row.endpoint_id);
    const holdsPrevious = (row.previous_until ?? 0) > this.#now() && row.previous_sealed !== null;
    const previous = holdsPrevious ? open(row.previous_sealed!) : null;
    return [open(row.secret_sealed), previous].filter((secret) => secret !== null);
  }

  /** Synchronises the stored endpoints of the manifest with the manifest. */
  async takeIn(db: Db, webhooks: AuthConfig['webhooks']): Promise<void> {
    const known = await manifestIds(db);
    const wanted = webhooks.map((webhook) => ({
      ...webhook,
      id: `wh_${digest(webhook.url).slice(0, 22)}`,
      secret: asWebhookSecret(webhook.secret),
    }));
    for (const id of known) if (!wanted.some((each) => each.id === id)) await this.disable(db, id);
    for (const { id, url, types, secret } of wanted) {
      if (!known.has(id)) await this.#insert(db, { id, url, types, source: 'manifest' }, secret);
      else
        await set(db, id, {
          types: JSON.stringify(types),
          secret_sealed: this.#seal(id, secret),
          disabled_at: null,
        });
    }
  }

  async #insert(
    trx: Db,
    given: Pick<Endpoint, 'id' | 'url' | 'types' | 'source'>,
    secret: string,
  ): Promise<Endpoint> {
    const endpoint = { ...given, created_at: this.#now(), disabled_at: null };
    const row = {
      ...endpoint,
      types: JSON.stringify(given.types),
      secret_sealed: this.#seal(given.id, secret),
      previous_sealed: null,
      previous_until: null,
    };
    await trx.insertInto('auth_webhook_endpoints').values(row).execute();
    return endpoint;
  }

  #seal(id: string, secret: string): string {
    return seal(this.#keys.derived('webhook-seal'), secret, id);
  }
}

const set = (db: Db, id: string, values: Record<string, unknown>) =>
  db.updateTable('auth_webhook_endpoints').set(values).where('id', '=', id).execute();

async function manifestIds(db: Db): Promise<ReadonlySet<string>> {
  const query = db.selectFrom('auth_webhook_endpoints').select('id');
  const rows = await query.where('source', '=', 'manifest').execute();
  return new Set(rows.map(({ id }) => id));
}

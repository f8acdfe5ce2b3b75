import { failure } from '@twofold/runtime/errors';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { digest, randomToken, type UserId } from '../base/ids.ts';
import { DAY, HOUR, MINUTE } from '../base/time.ts';

/** The lifetime of one-time tokens by kind, in milliseconds. */
export const ONE_TIME_LIFETIME = {
  reset: 10 * MINUTE,
  verify: DAY,
  email: DAY,
  unlock: 15 * MINUTE,
  oauth_code: MINUTE,
  link: MINUTE,
  consent: 10 * MINUTE,
  setup: HOUR,
  passkey_new: 5 * MINUTE,
  passkey_login: 5 * MINUTE,
  passkey_second_factor: 5 * MINUTE,
  passkey_reauthentication: 5 * MINUTE,
  restore: 14 * DAY,
  ticket: 5 * MINUTE,
  host_link: 10 * MINUTE,
} as const;

/** So many links of one kind work beside each other: whoever asks again ends none of them. */
export const MAX_LINKS = 3;

export type OneTimeKind = keyof typeof ONE_TIME_LIFETIME;

export interface OneTime {
  readonly userId: UserId;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface IssueOptions {
  /** Data that is returned when the token is used. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Whether earlier tokens of the same kind and user stop working; true when absent. */
  readonly newestOnly?: boolean;
  /** Lifetime in milliseconds, instead of `ONE_TIME_LIFETIME`. */
  readonly life?: number;
}

/** Tokens that work once. Only the hash of a token is stored. */
export interface OneTimeTokens {
  /** @param userId The owner; null for a setup token and for a link of the operator. */
  issue(trx: Db, kind: OneTimeKind, userId: UserId | null, options?: IssueOptions): Promise<string>;
  /** Finds a token without using it up. @throws AppError 400 `Invalid or expired token` */
  peek(db: Db, kind: OneTimeKind, token: string): Promise<OneTime>;
  /** Uses a token up. Of two concurrent calls one fails. @throws AppError 400 like `peek` */
  consume(trx: Db, kind: OneTimeKind, token: string): Promise<OneTime>;
  /**
   * Counts one answer to a live token. @returns whether it was one of the first `most` answers.
   */
  count(db: Db, kind: OneTimeKind, token: string, most: number): Promise<boolean>;
  /** Ends every token of a kind, of all users. */
  endKind(trx: Trx, kind: OneTimeKind): Promise<void>;
  /** Ends every token of a user, or those of one kind. */
  endAll(trx: Trx, userId: UserId, kind?: OneTimeKind): Promise<void>;
  /** The tokens of a user that would work now. */
  live(db: Db, kind: OneTimeKind, userId: UserId): Promise<OneTime[]>;
}

export const invalidToken = () => failure.badRequest('Invalid or expired token');

export function createOneTimeTokens(now: () => number): OneTimeTokens {
  const unused = (db: Db, kind: OneTimeKind) =>
    db
      .selectFrom('auth_one_time_tokens')
      .select(['user_id', 'data'])
      .where('kind', '=', kind)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now());
  const use = (db: Db) =>
    db.updateTable('auth_one_time_tokens').set({ used_at: now() }).where('used_at', 'is', null);
  return {
    issue: async (trx, kind, userId, { data = {}, newestOnly = true, life } = {}) => {
      if (newestOnly)
        await use(trx).where('user_id', '=', userId).where('kind', '=', kind).execute();
      const token = randomToken(32);
      await trx
        .insertInto('auth_one_time_tokens')
        .values({
          hash: digest(token),
          kind,
          user_id: userId,
          data: JSON.stringify(data),
          created_at: now(),
          expires_at: now() + (life ?? ONE_TIME_LIFETIME[kind]),
        })
        .execute();
      return token;
    },
    peek: async (db, kind, token) =>
      toOneTime(await unused(db, kind).where('hash', '=', digest(token)).executeTakeFirst()),
    consume: async (trx, kind, token) =>
      toOneTime(
        await use(trx)
          .where('hash', '=', digest(token))
          .where('kind', '=', kind)
          .where('expires_at', '>', now())
          .returning(['user_id', 'data'])
          .executeTakeFirst(),
      ),
    count: async (db, kind, token, most) => {
      const { numUpdatedRows } = await db
        .updateTable('auth_one_time_tokens')
        .set((set) => ({ answers: set('answers', '+', 1) }))
        .where('hash', '=', digest(token))
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('answers', '<', most)
        .executeTakeFirst();
      return Number(numUpdatedRows) === 1;
    },
    endKind: async (trx, kind) => void (await use(trx).where('kind', '=', kind).execute()),
    endAll: async (trx, userId, kind) => {
      const all = use(trx).where('user_id', '=', userId);
      await (kind ? all.where('kind', '=', kind) : all).execute();
    },
    live: async (db, kind, userId) =>
      (await unused(db, kind).where('user_id', '=', userId).execute()).map(toOneTime),
  };
}

type Found = Pick<RowOf<'auth_one_time_tokens'>, 'user_id' | 'data'>;

function toOneTime(row: Found | undefined): OneTime {
  if (!row) throw invalidToken();
  return {
    userId: row.user_id as UserId,
    data: JSON.parse(row.data ?? '{}') as Record<string, unknown>,
  };
}

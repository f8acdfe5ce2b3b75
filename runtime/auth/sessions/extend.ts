import { InternalError } from '@twofold/runtime/errors';
import type { Membership, RequestContext } from '@twofold/runtime/kernel';
import type { UserId } from '../base/ids.ts';

/** The second argument of `extend`, after the user's id. */
export interface ExtendInput<Context extends RequestContext = RequestContext> {
  /** `ctx.db` */
  readonly db: Context['db'];
  /** The context of code that no user calls: its rules do not apply. */
  readonly ctx: Context;
  readonly role: { readonly id: number; readonly name: string } | null;
  /** Their organizations, each with their role. Absent when the manifest has none. */
  readonly organizations?: readonly Membership[];
  readonly request: {
    readonly id: string;
    readonly ip: string;
    readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  };
}

/**
 * Adds data to the token and to the login response, the same object in both. Called once for each
 * token. When it throws, the login fails with 500, because a failed lookup must not look like a
 * user without a company. When the database is unavailable, the default `{ user_id }` is used.
 *
 * A project uses `types.Extend`, whose `db` knows its tables.
 *
 * @example
 * export const extend: Extend = async (userId, { db }) => ({
 *   user_id: userId,
 *   company_id: (await db.selectFrom('members').select('companyId').where('userId', '=', userId).executeTakeFirst())?.companyId,
 * });
 */
export type Extend<Context extends RequestContext = RequestContext> = (
  userId: any,
  input: ExtendInput<Context>,
) => object | null | undefined | Promise<object | null | undefined>;

/** The second argument of `extend`: the request, the database and the role. */
export type ExtendRequest = ExtendInput;

/** The project's `extend` failed, so no token is issued. `cause` is the error, which is logged. */
export class ExtendError extends InternalError {
  constructor(cause: unknown) {
    super('extend failed', { cause });
    this.name = 'ExtendError';
  }
}

export type Extended = Readonly<Record<string, unknown>>;

const TIME_LIMIT = 1000;
const MAX_BYTES = 4096;

/**
 * Runs `extend` once and reduces its answer to JSON.
 *
 * @throws ExtendError when it throws, takes too long, or returns no object or one that is too
 * large.
 */
export async function runExtend(
  extend: Extend | undefined,
  userId: UserId,
  input: ExtendInput,
): Promise<Extended> {
  const fallback = { user_id: userId };
  if (!extend)
    return input.role
      ? { ...fallback, role: { id: input.role.id, name: input.role.name } }
      : fallback;
  try {
    const value = await withinLimit(async () => extend(userId, input));
    return value === undefined || value === null ? fallback : toJson(value);
  } catch (error) {
    if (isStoreUnavailable(error)) return fallback;
    throw new ExtendError(error);
  }
}

async function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new InternalError(`extend took longer than ${TIME_LIMIT} ms`)),
      TIME_LIMIT,
    );
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    clearTimeout(timer);
  }
}

function toJson(value: unknown): Extended {
  const text = JSON.stringify(value);
  if (text === undefined || !text.startsWith('{'))
    throw new InternalError('extend must return an object');
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new InternalError(
      `extend must return at most ${MAX_BYTES} bytes of JSON: it travels in a header`,
    );
  return JSON.parse(text) as Extended;
}

/**
 * SQLSTATE classes 08 (connection), 53 (resources) and 57P0x (shutdown), and the codes of Node for
 * a broken connection.
 */
const UNAVAILABLE_CODE =
  /^(08\w{3}|53\w{3}|57P0\d|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;

function isStoreUnavailable(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return (
    name === 'StoreUnavailableError' || (typeof code === 'string' && UNAVAILABLE_CODE.test(code))
  );
}

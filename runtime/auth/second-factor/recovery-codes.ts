import { randomInt } from 'node:crypto';
import type { StepWrites } from '../events/events.ts';
import type { Db, Trx } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * A recovery code has 12 characters of Crockford's base 32. The first two say which of the ten codes
 * it is and are stored in clear, so that an answer costs one bcrypt compare and not ten. The other
 * ten, 50 random bits, are stored as passwords are.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const COUNT = 10;
const SELECTOR_LENGTH = 2;
const SECRET_LENGTH = 10;
const CODE_FORMAT = /^[0-9A-HJKMNP-TV-Z]{12}$/;

/** A new set: the codes to show once, and the rows to store. */
export interface RecoverySet {
  readonly codes: readonly string[];
  readonly rows: readonly { readonly selector: string; readonly hash: string }[];
}

/**
 * Makes ten codes. They are hashed one after the other, so that a set takes one place in the queue
 * of hashes at a time and sign-ins are served between them.
 */
export async function makeRecoverySet(passwords: Passwords): Promise<RecoverySet> {
  const selectors = new Set<string>();
  while (selectors.size < COUNT) selectors.add(randomText(SELECTOR_LENGTH));
  const codes: string[] = [];
  const rows: { selector: string; hash: string }[] = [];
  for (const selector of selectors) {
    const secret = randomText(SECRET_LENGTH);
    rows.push({ selector, hash: await passwords.hash(secret) });
    const code = selector + secret;
    codes.push(`${code.slice(0, 6)}-${code.slice(6)}`);
  }
  return { codes, rows };
}

/** Replaces the codes of a user. */
export async function storeRecoverySet(
  trx: Trx,
  userId: UserId,
  { rows }: RecoverySet,
  now: number,
): Promise<void> {
  await removeRecoveryCodes(trx, userId);
  const values = rows.map((row) => ({ ...row, user_id: userId, created_at: now, used_at: null }));
  await trx.insertInto('auth_recovery_codes').values(values).execute();
}

export async function removeRecoveryCodes(trx: Db, userId: UserId): Promise<void> {
  await trx.deleteFrom('auth_recovery_codes').where('user_id', '=', userId).execute();
}

/** The number of codes that still work. */
export async function countRecoveryCodes(db: Db, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom('auth_recovery_codes')
    .select((select) => select.fn.countAll().as('count'))
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Checks a recovery code, in any case, with or without its dash. A code whose selector is unknown
 * is compared with a hash too, so that the time of the answer does not tell which selectors exist.
 *
 * @throws WrongAnswer
 */
export async function proveRecoveryCode(
  auth: AuthState,
  account: Account,
  given: unknown,
): Promise<StepWrites> {
  const code = normalise(String(given));
  const selector = code.slice(0, SELECTOR_LENGTH);
  const row = await auth.db
    .selectFrom('auth_recovery_codes')
    .select('hash')
    .where('user_id', '=', account.id)
    .where('selector', '=', selector)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  const hash = row?.hash ?? null;
  const right = await auth.passwords.verify(code.slice(SELECTOR_LENGTH), hash);
  if (!right || hash === null || !CODE_FORMAT.test(code)) throw new WrongAnswer();
  return async ({ trx, emit }) => {
    const { numUpdatedRows } = await trx
      .updateTable('auth_recovery_codes')
      .set({ used_at: auth.now() })
      .where('user_id', '=', account.id)
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .executeTakeFirst();
    if (Number(numUpdatedRows) !== 1) throw new WrongAnswer();
    const left = await countRecoveryCodes(trx, account.id);
    emit('recovery_code.used', account.id, { left });
  };
}

/** Crockford's base 32 reads O as 0, and I and L as 1. */
function normalise(text: string): string {
  return text
    .toUpperCase()
    .replaceAll(/[-\s]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .slice(0, SELECTOR_LENGTH + SECRET_LENGTH + 1);
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Thrown where the answer to a step or to a mail is wrong. */
export class WrongAnswer extends Error {}

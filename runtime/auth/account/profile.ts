import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { checkPhone, checkText, checkUsername } from '../sign-in/identity-rules.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { isUniqueViolation, userExists } from '../sign-in/register.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';

/** The fields of a user that `PATCH /api/auth/me` changes. */
type OwnField = 'first_name' | 'last_name' | 'phone' | 'username' | 'avatar_url' | 'locale';

type OwnPatch = Pick<AccountPatch, OwnField>;

/** How each field is checked. `null` and the empty text clear it. */
const CHECKS: { readonly [Field in OwnField]: (value: string) => string | null } = {
  first_name: (value) => checkText('first_name', value),
  last_name: (value) => checkText('last_name', value),
  phone: checkPhone,
  username: (value) => checkUsername(value) ?? refuse('username is required'),
  avatar_url: checkAddress,
  locale: checkLocale,
};

/** `PATCH /api/auth/me`: users change the data about themselves. */
export function updateMe(parts: AuthParts): Handler {
  const { kernel, directory, events, limits, signIn } = parts;
  return async ({ koa, context, body }) => {
    const { account } = await signedInAccount(parts, context);
    const patch = changesOf(account, body);
    if (patch.phone !== undefined || patch.username !== undefined) {
      await assertProof(parts, context);
      // A conflict tells that somebody has this name or number, so nobody may try many of them.
      await limits.enforce(koa, [{ policy: 'change-name-user', subject: String(account.id) }]);
    }
    const fields = Object.keys(patch);
    if (fields.length > 0)
      await events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
        await directory.serialise(trx);
        const { username, phone } = patch;
        if (
          await directory.isTaken(
            trx,
            { username: username ?? null, phone: phone ?? null },
            account.id,
          )
        )
          throw userExists();
        await directory.update(trx, account.id, patch).catch((error: unknown) => {
          throw isUniqueViolation(error) ? userExists() : error;
        });
        emit('user.updated', account.id, { fields });
      });
    const changed = await directory.find(kernel.store.db, account.id);
    if (!changed) throw failure.notFound('User not found');
    return reply(200, signIn.profile(changed, changed.last_login ?? kernel.now()));
  };
}

/** The fields of the body that differ from the account, checked. @throws AppError 400 */
function changesOf(account: Account, body: Readonly<Record<string, string | null>>): OwnPatch {
  const checked = (Object.keys(CHECKS) as OwnField[])
    .filter((field) => body[field] !== undefined)
    .map((field) => [field, CHECKS[field](body[field] ?? '')] as const);
  return Object.fromEntries(checked.filter(([field, value]) => account[field] !== (value ?? '')));
}

/** Pages show the address as an image, so a scheme such as `javascript:` must not be stored. */
function checkAddress(value: string): string {
  if (value === '') return '';
  checkText('avatar_url', value);
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    refuse('avatar_url must be an http or https address');
  return value;
}

/** A language tag of BCP 47 in its canonical form: `de-at` becomes `de-AT`. */
function checkLocale(value: string): string | null {
  if (value === '') return null;
  try {
    return Intl.getCanonicalLocales(value)[0] ?? null;
  } catch {
    return refuse('locale must be a language tag such as en or de-AT');
  }
}

function refuse(message: string): never {
  throw failure.invalid(message);
}

import type { ServerModule } from '@twofold/runtime/kernel';
import { AppError } from '@twofold/runtime/errors';
import type { PageCookies } from './cookies.ts';
import type { FormState } from './page.ts';
import type { AllTexts, TextKey } from './texts.ts';

/** The text of an endpoint's error, and the field that it belongs to; none: above the form. */
type Problem = readonly [TextKey, ...fields: string[]];

const PROBLEMS: Readonly<Record<string, Problem>> = {
  'Invalid credentials': ['wrong_credentials', 'current_password', 'password'],
  'Invalid code': ['wrong_code', 'code', 'recovery_code'],
  'Invalid or expired token': ['dead_link'],
  'Invalid form': ['stale_form'],
  'Invalid redirect': ['wrong_address'],
  'Account locked': ['account_locked'],
  'Account disabled': ['account_disabled'],
  'Account deleted': ['account_deleted'],
  'Email not verified': ['email_not_verified'],
  'User already exists': ['taken', 'email', 'username', 'phone'],
  'Rate limit exceeded': ['too_many'],
  'Service unavailable': ['unavailable'],
  'Reauthentication required': ['proof_needed'],
  'Password is too weak': ['password_weak', 'new_password', 'password'],
  'Password is too common': ['password_common', 'new_password', 'password'],
  'Password must not contain your name, username or email': [
    'password_personal',
    'new_password',
    'password',
  ],
  'Cannot remove the last sign-in method': ['last_method'],
  'Cannot remove the last owner': ['last_owner'],
  'Identity already linked': ['identity_taken'],
  'Account exists; sign in to link this provider': ['provider_account_exists'],
};

/** The text of an endpoint's error; undefined for an error that no page has a text for. */
export const problemKey = ({ message }: AppError): TextKey | undefined => PROBLEMS[message]?.[0];

/** Errors that name a field: `email is required`, `phone must match …`. */
const OF_FIELD = /^(\w+) (is required|must\b.*|is not\b.*|is invalid)/;

/** The state of a form after an error of an endpoint, with the error at its field. */
export function problemOf(
  error: AppError,
  t: AllTexts,
  fields: readonly string[],
  values: FormState['values'],
): FormState {
  const [key, ...wanted] = PROBLEMS[error.message] ?? [];
  const field = wanted.find((each) => fields.includes(each));
  if (key) return field ? at(values, field, t[key]) : { values, errors: {}, alert: t[key] };
  const [, named = '', rule = ''] = OF_FIELD.exec(error.message) ?? [];
  const own = ownField(named, fields);
  if (own) return at(values, own, rule === 'is required' ? t.required : lengthOr(error, t));
  return { values, errors: {}, alert: error.status < 500 ? error.message : t.failed };
}

/** The policy says `Password must be at least 12 characters`. */
function lengthOr({ message }: AppError, t: AllTexts): string {
  const [, least] = /^Password must be at least (\d+) characters/.exec(message) ?? [];
  return least ? t.password_short.replace('{min}', least) : t.invalid_value;
}

function ownField(named: string, fields: readonly string[]): string | undefined {
  if (named === 'Password')
    return fields.find((each) => each === 'new_password' || each === 'password');
  return fields.find((each) => each === named);
}

const at = (values: FormState['values'], field: string, text: string): FormState => ({
  values,
  errors: { [field]: text },
});

export const isProblem = (error: unknown): error is AppError => error instanceof AppError;

const CALLBACK = /^\/api\/oauth\/[^/]+\/callback$/;

/**
 * Leads a browser whose flow failed at the callback of a provider to the sign-in page, which says what
 * happened. A client that does not prefer HTML gets the JSON of the endpoint.
 */
export function callbackErrors(
  base: string,
  cookies: Pick<PageCookies, 'writeNotice'>,
): NonNullable<ServerModule['errorForm']> {
  return (koa, error) => {
    if (!CALLBACK.test(koa.path) || koa.accepts('json', 'html') !== 'html') return false;
    cookies.writeNotice(koa, problemKey(error) ?? 'provider_failed');
    koa.status = 303;
    koa.set({ Location: `${base}/sign-in`, 'Cache-Control': 'no-store' });
    koa.body = '';
    return true;
  };
}

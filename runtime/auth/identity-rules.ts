import { isEmail, isPhone, isUsername } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';

/**
 * What makes two addresses the same one. Only ASCII is folded: the Kelvin sign does not become `k`.
 */
export function emailKey(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** What makes two phone numbers the same one: the digits, with the leading `+`. */
export function phoneKey(phone: string): string {
  return phone.replaceAll(/[ ()-]/g, '');
}

/** `a***@x.test`: enough for a person to recognise, too little to leak. */
export function maskIdentifier(identifier: string): string {
  const at = identifier.lastIndexOf('@');
  if (at < 1 || !isEmail(identifier)) return '***';
  return `${identifier[0]}***${identifier.slice(at)}`;
}

/** @throws AppError 400 naming the field. */
export function checkEmail(value: string): string {
  if (!isEmail(value)) throw failure.invalid('email must be a valid email address');
  return value;
}

/** @throws AppError 400; `undefined` and the empty text are null. */
export function checkUsername(value: string | undefined): string | null {
  if (!value) return null;
  if (!isUsername(value))
    throw failure.invalid('username must be 3 to 32 letters, digits, dots, dashes or underscores');
  return value;
}

/**
 * @throws AppError 400; the empty text is null, so that a unique index takes many without a phone.
 */
export function checkPhone(value: string | undefined): string | null {
  if (!value) return null;
  if (!isPhone(value))
    throw failure.invalid('phone must be 5 to 20 digits, spaces, dashes or parentheses');
  return value;
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * @throws AppError 400: text that is stored and shown has no control characters (and PostgreSQL
 * takes no NUL).
 */
export function checkText(name: string, value: string | undefined): string {
  if (value !== undefined && CONTROL.test(value))
    throw failure.invalid(`${name} must not contain control characters`);
  return value?.trim() ?? '';
}

/** Whether a path parameter can be one of our own ids at all. */
export function isOpaqueId(text: string): boolean {
  return /^[A-Za-z0-9_.:-]{1,128}$/.test(text);
}

/** A username from the local part of an address: what is not allowed becomes a dash. */
export function usernameFrom(email: string): string {
  const local = email
    .split('@')[0]!
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 27);
  return local.padEnd(3, '0');
}

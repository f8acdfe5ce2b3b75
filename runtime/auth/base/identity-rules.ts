import { isEmail, isPhone, isUsername } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';

/**
 * The form in which e-mail addresses are compared. Only ASCII letters become lower case: the Kelvin
 * sign (U+212A) does not become `k`.
 */
export function emailKey(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The form in which phone numbers are compared: the digits, with the leading `+`. */
export function phoneKey(phone: string): string {
  return phone.replaceAll(/[ ()-]/g, '');
}

/** `a***@x.test`: a user recognises the address, and others learn only its domain. */
export function maskIdentifier(identifier: string): string {
  const at = identifier.lastIndexOf('@');
  if (at < 1 || !isEmail(identifier)) return '***';
  return `${identifier[0]}***${identifier.slice(at)}`;
}

/** @throws AppError 400 that names the field. */
export function checkEmail(value: string): string {
  if (!isEmail(value)) throw failure.invalid('email must be a valid email address');
  return value;
}

/** `undefined` and the empty text become null. @throws AppError 400 */
export function checkUsername(value: string | undefined): string | null {
  if (!value) return null;
  if (!isUsername(value))
    throw failure.invalid('username must be 3 to 32 letters, digits, dots, dashes or underscores');
  return value;
}

/**
 * The empty text becomes null, because a unique index allows many users without a phone number.
 * @throws AppError 400
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
 * Refuses control characters in text that is stored and shown. PostgreSQL also accepts no NUL.
 * @throws AppError 400
 */
export function checkText(name: string, value: string | undefined): string {
  if (value !== undefined && CONTROL.test(value))
    throw failure.invalid(`${name} must not contain control characters`);
  return value?.trim() ?? '';
}

/** Whether a path parameter has the form of an id that this module creates. */
export function isOpaqueId(text: string): boolean {
  return /^[A-Za-z0-9_.:-]{1,128}$/.test(text);
}

/** Derives a username from an e-mail address. Characters that are not allowed become dashes. */
export function usernameFrom(email: string): string {
  const local = email
    .split('@')[0]!
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 27);
  return local.padEnd(3, '0');
}

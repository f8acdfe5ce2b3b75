import { failure } from '../errors.ts';

/** Printable ASCII without the characters that mean something in an address list. */
const ADDRESS = /^[!#-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const USERNAME = /^[A-Za-z0-9_.-]{3,32}$/;
const PHONE = /^\+?[0-9 ()-]{5,20}$/;

/**
 * Whether a mailbox may enter: judged as typed, before anything is folded, because a look-alike character folds into a
 * valid address (`a＠x.test`), and because what passes here is handed to the mailer.
 */
export function isEmail(text: string): boolean {
  if (text.length > 254 || !ADDRESS.test(text)) return false;
  const [local, domain] = text.split('@') as [string, string];
  return (
    local.length <= 64 &&
    !domain.includes('..') &&
    !local.startsWith('.') &&
    !local.endsWith('.') &&
    !local.includes('..')
  );
}

/** What makes two addresses the same one. Only ASCII is folded: the Kelvin sign is no `k`. */
export function emailKey(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
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
  if (!USERNAME.test(value))
    throw failure.invalid('username must be 3 to 32 letters, digits, dots, dashes or underscores');
  return value;
}

/** @throws AppError 400; the empty text is null, so that a unique index takes many without a phone. */
export function checkPhone(value: string | undefined): string | null {
  if (!value) return null;
  if (!PHONE.test(value))
    throw failure.invalid('phone must be 5 to 20 digits, spaces, dashes or parentheses');
  return value;
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** @throws AppError 400: text that is stored and shown has no control characters (and PostgreSQL takes no NUL). */
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

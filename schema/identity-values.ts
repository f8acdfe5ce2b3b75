/** Printable ASCII without the characters that have a meaning in an address list. */
const ADDRESS = /^[!#-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const USERNAME = /^[A-Za-z0-9_.-]{3,32}$/;
const PHONE = /^\+?[0-9 ()-]{5,20}$/;

/**
 * Whether a mail address is valid. It is checked as typed, before case folding, because a
 * look-alike character folds into a valid address (`a＠x.test`), and valid addresses are passed to
 * the mailer unchanged.
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

export const isUsername = (text: string) => USERNAME.test(text);

export const isPhone = (text: string) => PHONE.test(text);
